// A backup in place of the state. Its parts lie ready in a folder of the state folder
// (StateLayout::restored()), whole and durable; that this folder is there decides that they are
// the state. Whoever is killed while they are put into their places is followed by one who goes on.
#pragma once

#include "daemon/spec/state_layout.h"

namespace moil::daemon {

// Before anything of the state is opened. Goes on with what is ready, and throws away what never
// became ready, and what backups left that were killed. Throws as rename_durable().
void put_restored_in_place(const StateLayout& layout);

// Parts that a restored state has, below the state folder; the rest of the old one goes with them.
inline constexpr const char* kRestoredParts[] = {"models",   "packs",  "jobs",
                                                 "profiles", "labels", "moild.db"};

}  // namespace moil::daemon
