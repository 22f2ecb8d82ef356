// Files and folders that are made without waiting for the disk, by a thread that must not wait.
//
// After a power cut such a file may be the old one, empty or gone: it is for what is lost without
// harm, or for what somebody else flushes before it matters. All functions throw moil::Error and
// may be called from any thread.
#pragma once

#include <filesystem>
#include <string_view>

namespace moil {

// Replaces the file as a whole: who reads it finds the old or the new content.
void write_unflushed(const std::filesystem::path& path, std::string_view text);

// Creates the folder with mode 0700; present is fine. Whether it was not there.
bool make_private_folder_unflushed(const std::filesystem::path& folder);

// The file and its name survive a power cut from here on.
void flush_file(const std::filesystem::path& path);

}  // namespace moil
