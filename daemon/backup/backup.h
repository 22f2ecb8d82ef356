// Making a backup (docs/backup-format.md), beside a daemon that goes on.
#pragma once

#include <filesystem>

#include "base/json/json.h"
#include "daemon/backup/pace.h"
#include "daemon/spec/state_layout.h"

namespace moil::backup {

// Writes it to the descriptor. scratch: a folder for the copies of databases, whose owner removes
// it. Returns what the first member says, and `files`, the packs that jobs need and that are not in
// it (`packs_elsewhere`), and how many samples have gone meanwhile, or are damaged
// (`samples_left_out`).
[[nodiscard]] Json make_backup(const daemon::StateLayout& layout,
                               const std::filesystem::path& scratch, int descriptor,
                               const Pace::Tell& tell);

}  // namespace moil::backup
