// Files that a client opened if this process could not, and handed over: NAME=DESCRIPTOR.
//
// They are read through the descriptors alone, with the client's rights.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace moil::worker {

// Copies them, by their names, into a folder that is made anew. kInvalidArgument for a name that is
// no file of a model, or for what is no regular file.
void take_over(const std::vector<std::string>& files, const std::filesystem::path& folder);

// An error's text, with the folder that was named in place of the one they were copied to.
std::string named_after(const std::filesystem::path& named, const std::filesystem::path& copied,
                        std::string text);

}  // namespace moil::worker
