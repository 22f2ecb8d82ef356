// Files that a client opened if this process could not, and handed over: NAME=DESCRIPTOR.
//
// They are read through the descriptors alone, with the client's rights.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace moil::worker {

// Whether a file of this name is taken.
using IsTaken = bool (*)(const std::string& name);
[[nodiscard]] bool is_of_model(const std::string& name);
// pack.json, or a name that a shard may have.
[[nodiscard]] bool is_of_pack(const std::string& name);

// Copies them, by their names, into a folder that is made anew. kInvalidArgument for a name that is
// not taken, or for what is no regular file.
void take_over(const std::vector<std::string>& files, const std::filesystem::path& folder,
               IsTaken is_taken);

// An error's text, with the folder that was named in place of the one they were copied to.
std::string named_after(const std::filesystem::path& named, const std::filesystem::path& copied,
                        std::string text);

}  // namespace moil::worker
