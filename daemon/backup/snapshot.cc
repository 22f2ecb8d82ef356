#include "daemon/backup/snapshot.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/folder_entries.h"
#include "base/files/open_file.h"
#include "daemon/spec/model_files.h"

namespace fs = std::filesystem;

namespace moil::backup {
namespace {

constexpr int kMostTries = 20;

// In one transaction, which no writer waits for.
void copy_database(const fs::path& from, const fs::path& to) {
  fs::remove(to);
  const Database source(from, Database::Access::kReadOnly);
  Statement(source, "VACUUM INTO ?").bind(std::string_view(to.native())).run();
}

// Descriptors that may be held, with some left for all else.
std::size_t most_held() {
  constexpr std::size_t kLeft = 100;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= kLeft) return 0;
  return limit.rlim_cur - kLeft;
}

class Files {
 public:
  explicit Files(const daemon::StateLayout& layout) : layout_(layout) {}

  // False if it is not there.
  bool add(const fs::path& file) {
    KeptFile kept{file.lexically_relative(layout_.root()),
                  UniqueFd(open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)), 0};
    if (!kept.file && errno == ENOENT) return false;
    struct stat info {};
    if (!kept.file || ::fstat(kept.file.get(), &info) != 0)
      throw system_error("cannot open " + file.string(), errno);
    if (!S_ISREG(info.st_mode)) return true;  // nothing of moild's
    kept.size = static_cast<std::uint64_t>(info.st_size);
    if (found_.size() >= most_) kept.file.reset();
    found_.push_back(std::move(kept));
    return true;
  }
  std::vector<KeptFile> take() { return std::move(found_); }

 private:
  const daemon::StateLayout& layout_;
  const std::size_t most_ = most_held();
  std::vector<KeptFile> found_;
};

// Of all versions that the copy knows; nothing if one was removed meanwhile.
std::optional<std::uint64_t> add_versions(const daemon::StateLayout& layout, const fs::path& copy,
                                          Files& files) {
  const Database database(copy, Database::Access::kReadOnly);
  Statement rows(database, "SELECT model, version FROM versions WHERE state = 'ready'");
  std::uint64_t count = 0;
  for (; rows.step(); ++count) {
    const fs::path folder = layout.version(rows.text(0), rows.integer(1));
    for (const std::string_view name : daemon::kModelFiles)
      if (!files.add(folder / name) && name == daemon::kModelFiles[0]) return std::nullopt;
  }
  return count;
}

std::uint64_t add_packs(const daemon::StateLayout& layout, Files& files) {
  std::uint64_t count = 0;
  for (const fs::path& pack : entries_of(layout.packs())) {
    if (pack.filename().native().starts_with('.') || !files.add(pack / "pack.json")) continue;
    ++count;
    for (const fs::path& file : entries_of(pack))
      if (file.filename() != "pack.json") files.add(file);
  }
  return count;
}

void add_profiles(const daemon::StateLayout& layout, Files& files) {
  files.add(layout.kernel_profile());
  for (const fs::path& example : {layout.accuracies("x"), layout.settings("x")})
    for (const fs::path& file : entries_of(example.parent_path()))
      if (file.extension() == ".json") files.add(file);
}

}  // namespace

Snapshot take_snapshot(const daemon::StateLayout& layout, const fs::path& scratch) {
  const daemon::StateLayout copy(scratch);
  make_private_folder(copy.labels());
  for (int tries = 1;; ++tries) {
    Files files(layout);
    copy_database(layout.database(), copy.database());
    const auto versions = add_versions(layout, copy.database(), files);
    if (!versions && tries < kMostTries) continue;
    if (!versions)
      throw Error(ErrorCode::kFailedPrecondition,
                  "a version that is recorded has no files; moilctl doctor tells which");
    const std::uint64_t packs = add_packs(layout, files);
    add_profiles(layout, files);
    copy_database(layout.labels() / "labels.db", copy.labels() / "labels.db");
    return {files.take(), *versions, packs};
  }
}

}  // namespace moil::backup
