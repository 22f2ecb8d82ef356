#include "daemon/ctl/inbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <vector>

#include "base/error.h"
#include "datasets/labels/service_names.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr std::uint32_t kEvents =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::chrono::milliseconds kLookAgain{1000};
constexpr std::time_t kQuietSeconds = 2;

enum class Writer { kNone, kSomebody, kUnknown };

// The kernel gives a lease of a file that nobody has open for writing, to its owner.
Writer writer_of(const fs::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return Writer::kSomebody;  // gone, or not ours: nothing to be taken
  if (::fcntl(fd.get(), F_SETLEASE, F_RDLCK) == 0) {
    ::fcntl(fd.get(), F_SETLEASE, F_UNLCK);
    return Writer::kNone;
  }
  if (errno == EAGAIN || errno == EBUSY) return Writer::kSomebody;
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Writer::kSomebody;
  return std::time(nullptr) - status.st_mtime >= kQuietSeconds ? Writer::kNone : Writer::kUnknown;
}

bool is_passed_over(const fs::path& path) {
  return data::is_service_name(path.filename().string());
}

}  // namespace

Inbox::Inbox(const fs::path& root)
    : root_(root), events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (!events_) throw system_error("inotify", errno);
  if (!fs::is_directory(root_))
    throw Error(ErrorCode::kNotFound, root_.string() + ": there is no such folder");
  watch(root_);
}

// First watched, then looked at, so that nothing comes unseen in between.
void Inbox::watch(const fs::path& folder) {
  const int id = ::inotify_add_watch(events_.get(), folder.c_str(), kEvents);
  if (id < 0 && (errno == ENOENT || errno == ENOTDIR)) return;  // gone again
  if (id < 0) throw system_error("cannot watch " + folder.string(), errno);
  folders_[id] = folder;
  std::error_code ignored;
  std::vector<fs::path> content;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) content.push_back(entry.path());
  std::ranges::sort(content);
  for (const fs::path& path : content) {
    const fs::file_status status = fs::symlink_status(path, ignored);
    if (is_passed_over(path)) continue;
    if (fs::is_directory(status)) watch(path);
    if (!fs::is_regular_file(status)) continue;
    const Writer writer = writer_of(path);
    if (writer == Writer::kNone) take(path);
    if (writer == Writer::kUnknown) unsure_.push_back(path);
  }
}

void Inbox::take(const fs::path& file) {
  const fs::path within = file.lexically_relative(root_);
  Arrival arrival{file, within.has_parent_path() ? within.begin()->string() : ""};
  const auto is_same = [&](const Arrival& other) { return other.file == file; };
  if (std::ranges::none_of(arrived_, is_same)) arrived_.push_back(std::move(arrival));
}

// What another user owns is taken when it has been quiet for a while.
void Inbox::look_again() {
  for (std::size_t left = unsure_.size(); left > 0; --left) {
    const fs::path file = unsure_.front();
    unsure_.pop_front();
    const Writer writer = writer_of(file);
    if (writer == Writer::kNone) take(file);
    if (writer == Writer::kUnknown) unsure_.push_back(file);
  }
}

void Inbox::read_events() {
  alignas(inotify_event) char buffer[1 << 16];
  for (ssize_t n = 0; (n = ::read(events_.get(), buffer, sizeof buffer)) > 0;) {
    for (const char* at = buffer; at < buffer + n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof *event + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        watch(root_);
        continue;
      }
      const auto folder = folders_.find(event->wd);
      if (folder == folders_.end()) continue;
      if ((event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) {
        const bool is_root = folder->second == root_;
        if ((event->mask & IN_MOVE_SELF) != 0) ::inotify_rm_watch(events_.get(), event->wd);
        folders_.erase(folder);
        if (is_root) throw Error(ErrorCode::kNotFound, root_.string() + ": the folder is gone");
        continue;
      }
      if (event->len == 0) continue;
      const fs::path path = folder->second / event->name;
      if (is_passed_over(path)) continue;
      if ((event->mask & IN_ISDIR) != 0) {
        if ((event->mask & (IN_CREATE | IN_MOVED_TO)) != 0) watch(path);
      } else if ((event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0) {
        std::error_code ignored;
        if (fs::is_regular_file(fs::symlink_status(path, ignored))) take(path);
      }
    }
  }
}

std::optional<Inbox::Arrival> Inbox::next(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    read_events();
    look_again();
    if (!arrived_.empty()) {
      Arrival arrival = std::move(arrived_.front());
      arrived_.pop_front();
      return arrival;
    }
    auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (patience.count() >= 0 && wait.count() <= 0) return std::nullopt;
    if (patience.count() < 0) wait = std::chrono::milliseconds(-1);
    if (!unsure_.empty() && (wait.count() < 0 || wait > kLookAgain)) wait = kLookAgain;
    pollfd ready{events_.get(), POLLIN, 0};
    ::poll(&ready, 1, static_cast<int>(wait.count()));
  }
}

}  // namespace moil::daemon::ctl
