#include "daemon/review/address_file.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/error.h"
#include "base/files/file.h"

namespace fs = std::filesystem;

namespace moil::review {
namespace {

fs::path new_private_folder() {
  const char* own = std::getenv("XDG_RUNTIME_DIR");
  std::error_code ignored;
  const fs::path base =
      own != nullptr && fs::is_directory(own, ignored) ? fs::path(own) : fs::temp_directory_path();
  std::string name = (base / "moil-review-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw system_error("cannot make " + name, errno);
  return name;
}

}  // namespace

AddressFile::AddressFile(const std::string& address)
    : folder_(new_private_folder()), path_(folder_ / "review.html") {
  write_file_atomic(path_,
                    "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>moild</title>\n"
                    "<meta http-equiv=\"refresh\" content=\"0; url=" +
                        address + "\">\n");
}

AddressFile::~AddressFile() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

bool open_in_browser(const fs::path& file) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  std::string program = "xdg-open", argument = file.string();
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  // The browser may be its child: no Ctrl-C of ours ends it, and it takes signals as others do.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments, environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error == 0;
}

}  // namespace moil::review
