#include "daemon/state/restored_state.h"

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/folder_entries.h"
#include "daemon/log/log.h"
#include "daemon/state/trash.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

// What a backup has not and the new state must not find: the log of the old database, feature maps
// of samples that may not be there any more.
constexpr const char* kGone[] = {"moild.db-wal", "moild.db-shm", "cache", "lost-nights.json"};

void throw_unfinished_away(const StateLayout& layout) {
  throw_away(layout, layout.restoring());
  for (const fs::path& entry : entries_of(layout.root()))
    if (entry.filename().native().starts_with(StateLayout::kBackupPrefix))
      throw_away(layout, entry);
}

void move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error)
    throw system_error("cannot put " + to.string() + " of the backup in its place", error.value());
}

}  // namespace

void put_restored_in_place(const StateLayout& layout) {
  throw_unfinished_away(layout);
  if (!fs::exists(layout.restored())) return;
  for (const char* part : kGone) throw_away(layout, layout.root() / part);
  for (const char* part : kRestoredParts) {
    const fs::path from = layout.restored() / part, to = layout.root() / part;
    if (!fs::exists(from)) continue;  // it is there already
    throw_away(layout, to);
    move(from, to);
  }
  sync_folder(layout.root());
  sync_folder(layout.restored());
  fs::remove(layout.restored());
  sync_folder(layout.root());
  log_info("a backup was put in place of the state");
}

}  // namespace moil::daemon
