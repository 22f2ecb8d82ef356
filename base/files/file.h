// Whole files, read with a limit and replaced atomically.
//
// All functions throw moil::Error and may be called from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/unique_fd.h"

namespace moil {

// Opens a regular file for reading, without ever waiting: a pipe, a device, a socket or a folder is
// kIo at once. What strangers name is opened by this alone.
[[nodiscard]] UniqueFd open_regular(const std::filesystem::path& path);

// What a path may name: pipes are for the files that a user names on a command line.
enum class Named { kRegularFile, kFileOrPipe };

// Reads the file; kResourceExhausted if it is larger than max_bytes.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                                    Named named = Named::kRegularFile);
std::string read_text(const std::filesystem::path& path, std::uint64_t max_bytes = 64 << 20,
                      Named named = Named::kRegularFile);

// The whole of an open regular file, from its beginning: as many bytes as its size says, so that
// files of /proc, which have none and may never end, are empty. kInvalidArgument if it is not a
// regular file, kResourceExhausted if it is larger than max_bytes.
std::vector<std::uint8_t> read_descriptor(int fd, std::uint64_t max_bytes);

// Replaces the file: written aside (mode 0600), fsynced, renamed, folder fsynced. After a crash the
// old or the new content is there, never half of one.
void write_file_atomic(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
void write_file_atomic(const std::filesystem::path& path, std::string_view text);

// fsyncs a folder, so that names created, renamed or removed in it survive a power cut.
void sync_folder(const std::filesystem::path& folder);

// Creates the folder with mode 0700, durably; present is fine.
void make_private_folder(const std::filesystem::path& folder);

// Renames and makes the rename durable.
void rename_durable(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace moil
