// system.doctor: looks at all that a night needs and says what is wrong and what to do. A worker
// measures the machine, a thread of its own the disk, the background the cache. Loop thread only.
#pragma once

#include "daemon/rpc/method.h"

namespace moil::daemon {

class Service;

// Answers with what docs/protocol.md says of system.doctor, after some seconds.
void examine(Service& service, const Responder& responder);

}  // namespace moil::daemon
