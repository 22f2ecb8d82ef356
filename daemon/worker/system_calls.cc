#include "daemon/worker/system_calls.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/error.h"

namespace moil::worker {
namespace {

// A list of what is refused, and not of what is allowed: a newer C library may use calls of which
// nobody has heard yet, and nights must not fail on that. The service's unit has the other list.
constexpr const char* kRefused[] = {
    // other processes
    "fork", "vfork", "execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev",
    "process_madvise", "process_mrelease", "kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal",
    "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "migrate_pages", "move_pages",
    // sockets
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "socketcall",
    // mounts and namespaces
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns", "name_to_handle_at",
    "open_by_handle_at", "mknod", "mknodat", "quotactl", "quotactl_fd", "swapon", "swapoff",
    "fanotify_init",
    // other identities
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid",
    "setgroups", "capset", "sethostname", "setdomainname", "chown", "fchown", "lchown", "fchownat",
    // the kernel
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "add_key", "request_key", "keyctl", "kexec_load", "kexec_file_load",
    "init_module", "finit_module", "delete_module", "create_module", "acct", "reboot", "syslog",
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "iopl", "ioperm", "modify_ldt",
    "lookup_dcookie", "vhangup", "personality", "memfd_secret"};

struct Release {
  void operator()(void* filter) const { ::seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, Release>;

[[noreturn]] void fail(const char* what, int error) {
  throw system_error(std::string("cannot confine the worker (seccomp, ") + what + ")", error);
}

// A call that this processor does not have is no call.
void refuse(const Filter& filter, const char* name, int with = EPERM) {
  const int call = ::seccomp_syscall_resolve_name(name);
  if (call == __NR_SCMP_ERROR) return;
  const int status = ::seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(with), call, 0);
  if (status != 0) fail(name, -status);
}

void refuse_where(const Filter& filter, int call, const scmp_arg_cmp& argument) {
  const int status =
      ::seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 1, &argument);
  if (status != 0) fail("an argument", -status);
}

void refuse_by_argument(const Filter& filter) {
  const auto self = static_cast<scmp_datum_t>(::getpid());
  // A thread is a clone with this flag; clone3(2) hides its flags, and glibc then does without it.
  refuse_where(filter, SCMP_SYS(clone), {0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0});
  refuse(filter, "clone3", ENOSYS);
  refuse_where(filter, SCMP_SYS(kill), {0, SCMP_CMP_NE, self, 0});
  refuse_where(filter, SCMP_SYS(tgkill), {0, SCMP_CMP_NE, self, 0});
  // Words put into the terminal of who runs moild by hand; the kernel looks at the lower half
  // alone.
  refuse_where(filter, SCMP_SYS(ioctl), {1, SCMP_CMP_MASKED_EQ, 0xffffffffU, TIOCSTI});
}

}  // namespace

bool refuse_system_calls() {
  if (::prctl(PR_GET_SECCOMP) < 0 && errno == EINVAL) return false;
  const Filter filter(::seccomp_init(SCMP_ACT_ALLOW));
  if (!filter) fail("init", ENOMEM);
  for (const char* name : kRefused) refuse(filter, name);
  refuse_by_argument(filter);
  const int wanted = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  if (wanted != 0) fail("all threads", -wanted);
  const int status = ::seccomp_load(filter.get());
  if (status != 0) fail("load", -status);
  return true;
}

}  // namespace moil::worker
