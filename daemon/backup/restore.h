// Reading a stranger's backup (docs/backup-format.md) into a folder beside the state.
#pragma once

#include "base/json/json.h"
#include "daemon/backup/pace.h"
#include "daemon/spec/state_layout.h"

namespace moil::backup {

// Puts the parts of a state (state/restored_state.h) into layout.restoring(), an empty folder,
// durable and of this version of moild. Returns the backup's first member, and in `packs_left_out`
// the packs that cannot be read, with why. kBadData if it is cut off, damaged or no backup,
// kUnimplemented if it is from a newer moild, DiskFull; the folder's content is worth nothing then,
// and its owner removes it.
[[nodiscard]] Json read_backup(const daemon::StateLayout& layout, int descriptor,
                               const Pace::Tell& tell);

}  // namespace moil::backup
