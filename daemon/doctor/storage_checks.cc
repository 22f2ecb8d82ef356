#include "daemon/doctor/storage_checks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/access.h"
#include "base/files/disk_full.h"
#include "base/files/unnamed_file.h"
#include "base/median.h"
#include "base/seconds.h"
#include "daemon/upkeep/cache_access.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

constexpr mode_t kOfOthers = 077, kOfStrangers = 007;
constexpr std::size_t kWritten = 8 << 20, kSmall = 4096;
constexpr int kSyncs = 9;
constexpr double kMega = 1e6, kSlowSync = 0.1, kBadSync = 1.0, kSlowWrite = 5;
constexpr std::uint64_t kReadWhole = 256 << 20;  // in a second or so

std::string octal(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", mode & 07777);
  return text;
}

void sync_data(const UniqueFd& file) {
  if (::fdatasync(file.get()) != 0) throw_write_error("cannot make a test file durable", errno);
}

}  // namespace

Finding check_state_folder(const fs::path& folder) {
  constexpr const char* kWhat = "state-folder";
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0)
    return problem(kWhat, system_error("cannot look at " + folder.string(), errno).what(),
                   "put the folder back, or give another --state-dir, and restart moild");
  if (info.st_uid != ::geteuid())
    return problem(kWhat,
                   folder.string() + " belongs to " + user_name(info.st_uid) + ", not to " +
                       user_name(::geteuid()),
                   "chown -R " + user_name(::geteuid()) + " " + folder.string());
  if ((info.st_mode & kOfOthers) != 0)
    return problem(kWhat, folder.string() + " is open to others (mode " + octal(info.st_mode) + ")",
                   "chmod 0700 " + folder.string());
  if (::access(folder.c_str(), W_OK) != 0)
    return problem(kWhat, folder.string() + " cannot be written to",
                   "see whether its file system is mounted read-only");
  return ok(kWhat, folder.string() + " is " + user_name(::geteuid()) + "'s alone");
}

Finding check_socket(const fs::path& socket) {
  constexpr const char* kWhat = "socket";
  struct stat info {};
  if (::lstat(socket.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode))
    return problem(kWhat, socket.string() + " is no socket any more; new clients do not find moild",
                   "restart moild");
  const bool others = (info.st_mode & kOfStrangers) != 0;
  return ok(kWhat, socket.string() + " belongs to " + user_name(info.st_uid) + ", mode " +
                       octal(info.st_mode) +
                       (others ? "; moild turns away whom \"access\" does not name" : ""));
}

Finding judge_room(std::optional<std::uint64_t> free, const DiskConfig& disk) {
  constexpr const char* kWhat = "disk-room";
  if (!free)
    return warning(kWhat, "the system does not tell how much room there is",
                   "see to the disk (dmesg, df)");
  const auto reserve = static_cast<std::uint64_t>(disk.reserve_bytes);
  const auto leave = static_cast<std::uint64_t>(disk.leave_free_bytes);
  const std::string room = size_text(static_cast<double>(*free)) + " are free";
  constexpr const char* kRemedy =
      "make room: moilctl clean, moilctl model rm, moilctl label rm, or other files of the disk";
  if (*free <= reserve) return problem(kWhat, room + ", too little for a night", kRemedy);
  if (*free < leave)
    return warning(kWhat,
                   room + "; below " + size_text(static_cast<double>(leave)) +
                       " the cache takes no more, and nights take longer",
                   kRemedy);
  return ok(kWhat, room);
}

DiskSpeed measure_disk(const fs::path& folder) {
  const UniqueFd file = open_unnamed_file(folder);
  if (!file) throw system_error("cannot make a test file in " + folder.string(), errno);
  const std::vector<std::byte> content(kWritten, std::byte{0x5a});
  auto start = std::chrono::steady_clock::now();
  write_at(file, 0, content, "a test file");
  sync_data(file);
  DiskSpeed speed;
  speed.write_megabytes = static_cast<double>(kWritten) / kMega / seconds_since(start);
  std::vector<double> syncs;
  for (int i = 0; i < kSyncs; ++i) {
    start = std::chrono::steady_clock::now();
    write_at(file, kWritten + static_cast<std::size_t>(i) * kSmall,
             std::span(content).first(kSmall), "a test file");
    sync_data(file);
    syncs.push_back(seconds_since(start));
  }
  speed.sync_seconds = median(std::move(syncs));
  return speed;
}

Finding judge_disk(const DiskSpeed& speed) {
  constexpr const char* kWhat = "disk-speed";
  constexpr double kMilli = 1e3;
  const std::string says = "a write is durable after " + figure(speed.sync_seconds * kMilli) +
                           " ms; " + figure(speed.write_megabytes) + " MB/s are written";
  constexpr const char* kRemedy =
      "put the state folder on a faster disk (--state-dir), or look for what else writes to it";
  if (speed.sync_seconds >= kBadSync)
    return problem(kWhat, says + ": each label that is added waits so long", kRemedy);
  if (speed.sync_seconds >= kSlowSync || speed.write_megabytes < kSlowWrite)
    return warning(kWhat, says + ", which is slow", kRemedy);
  return ok(kWhat, says);
}

Finding check_cache(const StateLayout& layout, std::int64_t quota_bytes) {
  constexpr const char* kWhat = "cache";
  constexpr const char* kRepair = "moilctl cache verify --repair";
  if (!fs::exists(layout.cache())) return ok(kWhat, "there is no feature map yet");
  try {
    auto cache = open_cache(layout, quota_bytes);
    const cache::CacheStats stats = cache.stats();
    const std::string holds = std::to_string(stats.entries) + " feature maps, " +
                              size_text(static_cast<double>(stats.bytes));
    if (stats.bytes > kReadWhole)
      return ok(kWhat, holds + "; it opens; moilctl cache verify reads every one");
    const cache::VerifyReport report = cache.verify();
    if (report.ok()) return ok(kWhat, holds + ", all of them sound");
    return warning(kWhat,
                   holds + "; " + std::to_string(report.bad_entries) +
                       " are damaged and will be computed anew",
                   kRepair);
  } catch (const cache::Unusable& error) {
    return problem(kWhat, std::string("it cannot be used: ") + error.what(), kRepair);
  }
}

}  // namespace moil::daemon
