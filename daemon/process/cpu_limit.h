// On how many CPUs a process may run, changed while it runs. Any thread.
#pragma once

#include <sys/types.h>

namespace moil::daemon {

// CPUs that this process may run on, and so may those that it starts.
int usable_cpus();

// All threads of the process take turns on the first `count` of the usable CPUs; threads that it
// starts later follow those that start them. False if it is gone or the system refuses.
bool limit_cpus(pid_t process, int count);

}  // namespace moil::daemon
