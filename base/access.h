// Who may read what: why a file cannot be read, and modes for what is written for others.
//
// All functions may be called from any thread.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace moil {

// The name of a user, or its number if it has none.
std::string user_name(unsigned user);

// An Error for a path that could not be opened or looked at: `what`, errno's text and, if a
// permission is missing, the first folder or file on the way that stops this process.
Error access_error(const std::string& what, const std::filesystem::path& path, int errno_value);

// Throws access_error() if the file or folder is not there (kNotFound) or cannot be read (kIo).
void require_readable(const std::filesystem::path& path);

// Files are written for their owner alone, and most stay so. What a program writes for others gets
// the mode that the umask allows: a file, or a folder and all that is in it.
void publish(const std::filesystem::path& path);
void publish_content(const std::filesystem::path& folder);  // the folder keeps its mode

}  // namespace moil
