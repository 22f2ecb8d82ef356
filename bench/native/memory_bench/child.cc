#include "bench/native/memory_bench/child.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/files/unique_fd.h"

namespace moil {
namespace {

bool write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("cannot read from the child process", errno);
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

int answer(int fd, const std::function<nlohmann::json()>& work) {
  try {
    return write_all(fd, work().dump()) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "memory_bench: %s\n", e.what());
    return 1;
  }
}

}  // namespace

ChildResult run_in_child(const std::function<nlohmann::json()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) throw system_error("cannot make a pipe", errno);
  UniqueFd from_child(ends[0]), to_parent(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) throw system_error("cannot fork", errno);
  if (child == 0) ::_exit(answer(to_parent.get(), work));
  to_parent.reset();
  const std::string text = read_all(from_child.get());
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  if (status != 0) throw Error(ErrorCode::kInternal, "the preparing process failed");
  return {parsed_json(text), static_cast<std::size_t>(usage.ru_maxrss) * 1024};
}

}  // namespace moil
