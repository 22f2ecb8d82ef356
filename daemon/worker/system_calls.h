// Which system calls this process may still make, from here on: seccomp, for all of its threads.
#pragma once

namespace moil::worker {

// Refused with EPERM: other processes (fork, exec, signals to others, ptrace), sockets, mounts and
// namespaces, other identities, and what only concerns the kernel (modules, bpf, io_uring, keys,
// ...). Threads may be started. If the kernel has no seccomp, nothing happens and the answer is
// false; throws kIo if it refuses.
bool refuse_system_calls();

}  // namespace moil::worker
