// A job's result as a whole: with the long lists that the daemon keeps beside it.
#pragma once

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

// job: as job.get has it. Lists are fetched in parts and put where they belong.
void complete_result(Session& session, Json& job);

}  // namespace moil::daemon::ctl
