#include "daemon/ctl/labels/inbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "base/error.h"
#include "datasets/labels/service_names.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF |
                                  IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW;
constexpr std::chrono::milliseconds kLookAgain{1000}, kLookThrough{5000};
constexpr std::time_t kQuietSeconds = 2;

enum class Writer { kNone, kSomebody, kUnknown };

// The kernel gives a lease of a file that nobody has open for writing, to its owner.
Writer writer_of(const UniqueFd& file) {
  if (!file) return Writer::kSomebody;  // gone, or not ours: nothing to be taken
  if (::fcntl(file.get(), F_SETLEASE, F_RDLCK) == 0) {
    ::fcntl(file.get(), F_SETLEASE, F_UNLCK);
    return Writer::kNone;
  }
  if (errno == EAGAIN || errno == EBUSY) return Writer::kSomebody;
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return Writer::kSomebody;
  return std::time(nullptr) - status.st_mtime >= kQuietSeconds ? Writer::kNone : Writer::kUnknown;
}

bool is_passed_over(const fs::path& path) {
  return data::is_service_name(path.filename().string());
}

std::string why_unwatched(int error) {
  const char* what =
      error == EMFILE ? "fs.inotify.max_user_instances" : "fs.inotify.max_user_watches";
  return std::string("the system watches no more folders for this user (raise it: sysctl ") + what +
         "); they are looked through every " +
         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(kLookThrough).count()) +
         " s";
}

bool is_a_limit(int error) { return error == ENOSPC || error == EMFILE || error == ENOMEM; }

}  // namespace

Inbox::Inbox(const fs::path& root, std::size_t most_watches)
    : root_(root), most_watches_(most_watches), events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (!events_) {
    if (!is_a_limit(errno)) throw system_error("inotify", errno);
    complaint_ = why_unwatched(errno);
  }
  if (!fs::is_directory(root_))
    throw Error(ErrorCode::kNotFound, root_.string() + ": there is no such folder");
  add_folder(root_);
}

// First watched, then looked at, so that nothing comes unseen in between.
void Inbox::add_folder(const fs::path& folder) {
  if (!watch(folder)) unwatched_.insert(folder);
  look_through(folder, Folders::kAll);
}

bool Inbox::is_known(const fs::path& folder) const {
  const auto is_it = [&](const auto& watched) { return watched.second == folder; };
  return unwatched_.contains(folder) || std::ranges::any_of(folders_, is_it);
}

// False if the folder must be looked through instead.
bool Inbox::watch(const fs::path& folder) {
  const bool is_root = folder == root_;  // which may be named by a link
  int id = -1;
  errno = ENOSPC;
  if (events_ && folders_.size() < most_watches_)
    id = ::inotify_add_watch(events_.get(), folder.c_str(),
                             is_root ? kEvents & ~std::uint32_t{IN_DONT_FOLLOW} : kEvents);
  if (id >= 0) {
    folders_[id] = folder;
    return true;
  }
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return true;  // gone again
  if (!is_a_limit(errno)) throw system_error("cannot watch " + folder.string(), errno);
  if (unwatched_.empty() && complaint_.empty()) complaint_ = why_unwatched(errno);
  return false;
}

void Inbox::look_through(const fs::path& folder, Folders below) {
  std::error_code ignored;
  if (folder != root_ && fs::is_symlink(fs::symlink_status(folder, ignored))) return;
  std::vector<fs::path> content;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) content.push_back(entry.path());
  std::ranges::sort(content);
  for (const fs::path& path : content) {
    const fs::file_status status = fs::symlink_status(path, ignored);
    if (is_passed_over(path)) continue;
    if (fs::is_directory(status) && (below == Folders::kAll || !is_known(path))) add_folder(path);
    if (fs::is_regular_file(status)) found(path);
  }
}

// In a folder that was looked through: whether the file has come since the last time.
void Inbox::found(const fs::path& file) {
  const UniqueFd content = open_within(file);
  struct stat now {};
  if (!content || ::fstat(content.get(), &now) != 0) return;
  const Writer writer = writer_of(content);
  if (writer == Writer::kSomebody) return;
  if (unwatched_.contains(file.parent_path()) || seen_.contains(file)) {
    const Signature signature{now.st_ino, now.st_size, now.st_mtim.tv_sec, now.st_mtim.tv_nsec};
    const auto [entry, is_new] = seen_.try_emplace(file, signature);
    if (!is_new && entry->second == signature) return;
    entry->second = signature;
  }
  if (writer == Writer::kNone) take(file);
  if (writer == Writer::kUnknown) unsure_.push_back(file);
}

void Inbox::look_through_unwatched() {
  if (unwatched_.empty() || Clock::now() - looked_through_ < kLookThrough) return;
  looked_through_ = Clock::now();
  std::error_code ignored;
  if (!fs::is_directory(root_, ignored))
    throw Error(ErrorCode::kNotFound, root_.string() + ": the folder is gone");
  std::erase_if(seen_, [&](const auto& seen) { return !fs::exists(seen.first, ignored); });
  const auto folders = unwatched_;
  for (const fs::path& folder : folders) {
    if (!fs::is_directory(folder, ignored) || watch(folder)) unwatched_.erase(folder);
    look_through(folder, Folders::kUnknown);
  }
}

void Inbox::take(const fs::path& file) {
  if (std::ranges::find(arrived_, file) == arrived_.end()) arrived_.push_back(file);
}

void Inbox::put_off(const fs::path& file, std::chrono::milliseconds time) {
  put_off_.emplace(Clock::now() + time, file);
}

std::string Inbox::complaint() { return std::exchange(complaint_, ""); }

// What another user owns is taken when it has been quiet for a while.
void Inbox::look_again() {
  for (std::size_t left = unsure_.size(); left > 0; --left) {
    const fs::path file = unsure_.front();
    unsure_.pop_front();
    const Writer writer = writer_of(open_within(file));
    if (writer == Writer::kNone) take(file);
    if (writer == Writer::kUnknown) unsure_.push_back(file);
  }
  while (!put_off_.empty() && put_off_.begin()->first <= Clock::now()) {
    take(put_off_.begin()->second);
    put_off_.erase(put_off_.begin());
  }
  look_through_unwatched();
}

void Inbox::read_events() {
  if (!events_) return;
  alignas(inotify_event) char buffer[1 << 16];
  for (ssize_t n = 0; (n = ::read(events_.get(), buffer, sizeof buffer)) > 0;) {
    for (const char* at = buffer; at < buffer + n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof *event + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        add_folder(root_);
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
        if ((event->mask & (IN_CREATE | IN_MOVED_TO)) != 0) add_folder(path);
      } else if ((event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0) {
        take(path);
      }
    }
  }
}

// Folder by folder, so that no link is followed and nothing outside is reached, on every kernel.
UniqueFd Inbox::open_within(const fs::path& file) const {
  const fs::path within = file.lexically_relative(root_);
  // Not kept open: the kernel would not say that it is gone.
  UniqueFd folder(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  constexpr int kNoLink = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
  for (const fs::path& name : within.parent_path())
    folder = UniqueFd(::openat(folder.get(), name.c_str(), kNoLink | O_DIRECTORY));
  UniqueFd found(
      ::openat(folder.get(), within.filename().c_str(), kNoLink | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (found && (::fstat(found.get(), &status) != 0 || !S_ISREG(status.st_mode))) found.reset();
  return found;
}

// Files that have gone, or become something else, meanwhile are passed over.
std::optional<Inbox::Arrival> Inbox::first_arrived() {
  while (!arrived_.empty()) {
    const fs::path file = std::move(arrived_.front());
    arrived_.pop_front();
    UniqueFd content = open_within(file);
    if (!content) continue;
    const fs::path within = file.lexically_relative(root_);
    return Arrival{file, within.has_parent_path() ? within.begin()->string() : "",
                   std::move(content)};
  }
  return std::nullopt;
}

Inbox::Clock::duration Inbox::until_next_look() const {
  Clock::duration wait = Clock::duration::max();
  if (!unsure_.empty()) wait = kLookAgain;
  if (!unwatched_.empty()) wait = std::min<Clock::duration>(wait, kLookThrough);
  if (!put_off_.empty()) wait = std::min(wait, put_off_.begin()->first - Clock::now());
  return wait;
}

std::optional<Inbox::Arrival> Inbox::next(std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  for (;;) {
    read_events();
    look_again();
    if (auto arrival = first_arrived()) return arrival;
    Clock::duration wait = until_next_look();
    if (patience.count() >= 0) {
      if (Clock::now() >= until) return std::nullopt;
      wait = std::min(wait, until - Clock::now());
    }
    const bool for_ever = wait == Clock::duration::max();
    const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    pollfd ready{events_.get(), POLLIN, 0};
    ::poll(&ready, 1, for_ever ? -1 : static_cast<int>(std::max<std::int64_t>(rounded, 0)));
  }
}

}  // namespace moil::daemon::ctl
