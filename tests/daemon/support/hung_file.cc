#include "tests/daemon/support/hung_file.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace moil::daemon::test {
namespace {

constexpr std::uint64_t kRoot = 1, kFile = 2;

fuse_attr attributes(std::uint64_t node) {
  fuse_attr attr{};
  attr.ino = node;
  attr.mode = node == kRoot ? S_IFDIR | 0755 : S_IFREG | 0644;
  attr.nlink = 1;
  attr.size = node == kRoot ? 0 : 4096;
  return attr;
}

}  // namespace

HungFile::HungFile(Killed killed)
    : killed_(killed), device_(::open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
  if (!device_) return;
  const std::string options =
      "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
  mounted_ = ::mount("hung", folder_.path().c_str(), "fuse.hung", MS_NOSUID | MS_NODEV,
                     options.c_str()) == 0;
  if (mounted_) thread_ = std::thread([this] { serve(); });
}

HungFile::~HungFile() {
  if (!mounted_) return;
  ::umount2(folder_.path().c_str(), MNT_FORCE);  // ends what waits
  ::umount2(folder_.path().c_str(), MNT_DETACH);
  thread_.join();
}

template <class Body>
void HungFile::answer(std::uint64_t request, const Body& body) const {
  fuse_out_header header{.len = sizeof header + sizeof body, .error = 0, .unique = request};
  const iovec parts[] = {{&header, sizeof header}, {const_cast<Body*>(&body), sizeof body}};
  [[maybe_unused]] const ssize_t n = ::writev(device_.get(), parts, 2);
}

void HungFile::refuse(std::uint64_t request, int error) const {
  const fuse_out_header header{.len = sizeof header, .error = -error, .unique = request};
  [[maybe_unused]] const ssize_t n = ::write(device_.get(), &header, sizeof header);
}

// Until the file system is gone.
void HungFile::serve() {
  std::vector<char> buffer(1 << 18);
  for (;;) {
    const ssize_t n = ::read(device_.get(), buffer.data(), buffer.size());
    if (n < 0 && (errno == EINTR || errno == ENOENT)) continue;
    if (n < 0) return;
    fuse_in_header in{};
    std::memcpy(&in, buffer.data(), sizeof in);
    switch (in.opcode) {
      case FUSE_INIT: {
        fuse_init_out out{};
        out.major = FUSE_KERNEL_VERSION;
        out.minor = FUSE_KERNEL_MINOR_VERSION;
        out.max_write = 4096;
        answer(in.unique, out);
        break;
      }
      case FUSE_GETATTR: {
        fuse_attr_out out{};
        out.attr_valid = 60;
        out.attr = attributes(in.nodeid);
        answer(in.unique, out);
        break;
      }
      case FUSE_LOOKUP: {
        fuse_entry_out out{};
        out.nodeid = kFile;
        out.entry_valid = out.attr_valid = 60;
        out.attr = attributes(kFile);
        answer(in.unique, out);
        break;
      }
      case FUSE_OPEN: {
        fuse_open_out out{};
        out.open_flags = FOPEN_DIRECT_IO;
        answer(in.unique, out);
        break;
      }
      case FUSE_READ:
        ++reads_;
        break;
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
        break;
      case FUSE_INTERRUPT: {  // who reads is being killed
        if (killed_ == Killed::kStays) break;
        fuse_interrupt_in interrupted{};
        std::memcpy(&interrupted, buffer.data() + sizeof in, sizeof interrupted);
        refuse(interrupted.unique, EINTR);
        break;
      }
      default:
        refuse(in.unique, in.opcode == FUSE_RELEASE || in.opcode == FUSE_FLUSH ? 0 : ENOSYS);
    }
  }
}

}  // namespace moil::daemon::test
