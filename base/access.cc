#include "base/access.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <vector>

namespace moil {
namespace {

namespace fs = std::filesystem;

bool may(const fs::path& path, int what) {
  return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0;
}

std::string stopped_at(const fs::path& path, const std::string& verb, const struct stat& info) {
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", info.st_mode & 07777U);
  return "this runs as user " + user_name(::geteuid()) + ", which may not " + verb + " " +
         path.string() + " (mode " + mode + ", of user " + user_name(info.st_uid) + ")";
}

// Empty if nothing on the way stops this process.
std::string what_stops_reading(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (error) return {};
  fs::path walked;
  for (const fs::path& part : whole) {
    walked /= part;
    struct stat info {};
    if (::stat(walked.c_str(), &info) != 0) return {};
    const bool folder = S_ISDIR(info.st_mode);
    if (folder && !may(walked, X_OK)) return stopped_at(walked, "enter the folder", info);
    if (walked == whole && !may(walked, R_OK)) {
      return stopped_at(walked, folder ? "list the folder" : "read the file", info);
    }
  }
  return {};
}

// What this process has; umask(2) can only be asked by changing it.
mode_t present_umask() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Umask:")) {
      return static_cast<mode_t>(std::stoul(line.substr(6), nullptr, 8));
    }
  }
  return 077;
}

void publish_one(const fs::path& path, mode_t mask) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) throw system_error("cannot stat " + path.string(), errno);
  if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)) return;
  const mode_t mode = (S_ISDIR(info.st_mode) ? 0777U : 0666U) & ~mask;
  if (::chmod(path.c_str(), mode) != 0) {
    throw system_error("cannot set the mode of " + path.string(), errno);
  }
}

}  // namespace

std::string user_name(unsigned user) {
  std::vector<char> buffer(1 << 14);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(user);
}

Error access_error(const std::string& what, const fs::path& path, int errno_value) {
  const Error error = system_error(what, errno_value);
  const std::string stop = errno_value == EACCES ? what_stops_reading(path) : "";
  return stop.empty() ? error : Error(error.code(), std::string(error.what()) + "; " + stop);
}

void require_readable(const fs::path& path) {
  struct stat info {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (!there && (errno == ENOENT || errno == ENOTDIR)) {
    throw Error(ErrorCode::kNotFound, "there is no file or folder " + path.string());
  }
  if (!there || !may(path, S_ISDIR(info.st_mode) ? R_OK | X_OK : R_OK)) {
    throw access_error("cannot read " + path.string(), path, errno);
  }
}

void publish(const fs::path& path) {
  publish_one(path, present_umask());
  if (fs::is_directory(path)) publish_content(path);
}

void publish_content(const fs::path& folder) {
  const mode_t mask = present_umask();
  try {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) publish_one(entry, mask);
  } catch (const fs::filesystem_error& error) {
    throw system_error("cannot go through " + folder.string(), error.code().value());
  }
}

}  // namespace moil
