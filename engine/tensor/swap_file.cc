#include "engine/tensor/swap_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/files/disk_full.h"
#include "base/files/unnamed_file.h"
#include "engine/tensor/residency.h"

namespace moil {
SwapFile::SwapFile(const std::filesystem::path& folder, std::size_t bytes) : bytes_(bytes) {
  const std::string what =
      "cannot make a swap file of " + std::to_string(bytes) + " bytes in " + folder.string();
  fd_ = open_unnamed_file(folder, O_DIRECT);
  if (!fd_ && errno == EINVAL) {
    direct_ = false;
    fd_ = open_unnamed_file(folder);
  }
  if (!fd_) throw_write_error(what, errno);
  if (bytes == 0) return;
  const int error = ::posix_fallocate(fd_.get(), 0, static_cast<off_t>(bytes));
  if (error != 0) throw_write_error(what, error);
}

void SwapFile::read(std::size_t offset, std::span<std::byte> to) const {
  read_at(fd_, offset, to, "cannot read the swap file");
  if (!direct_) {
    (void)::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(to.size()),
                          POSIX_FADV_DONTNEED);
  }
}

void SwapFile::write(std::size_t offset, std::span<const std::byte> from) const {
  write_at(fd_, offset, from, "cannot write the swap file");
  if (direct_) return;
  // Only clean pages can be dropped.
  (void)::sync_file_range(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(from.size()),
                          SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  (void)::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(from.size()),
                        POSIX_FADV_DONTNEED);
}

std::shared_ptr<std::byte> SwapFile::map(std::size_t offset, std::size_t bytes) const {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(),
                         static_cast<off_t>(offset));
  if (address == MAP_FAILED) throw system_error("cannot map the swap file", errno);
  const auto unmap = [fd = fd_.get(), offset, bytes](std::byte* p) {
    ::msync(p, bytes, MS_SYNC);
    ::munmap(p, bytes);
    (void)::posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes),
                          POSIX_FADV_DONTNEED);
  };
  return {static_cast<std::byte*>(address), unmap};
}

DiskSpeed measure_disk(const std::filesystem::path& folder) {
  constexpr std::size_t kChunk = 4 << 20, kChunks = 8;
  const SwapFile file(folder, kChunk * kChunks);
  const std::unique_ptr<void, void (*)(void*)> buffer(std::aligned_alloc(kSwapAlignment, kChunk),
                                                      std::free);
  if (!buffer) throw system_error("cannot measure the disk", ENOMEM);
  std::memset(buffer.get(), 1, kChunk);
  const std::span<std::byte> bytes(static_cast<std::byte*>(buffer.get()), kChunk);
  const auto rate = [&](const auto& transfer) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t c = 0; c < kChunks; ++c) transfer(c * kChunk);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return static_cast<double>(kChunk * kChunks) / took.count();
  };
  const auto write = [&](std::size_t offset) { file.write(offset, bytes); };
  const auto read = [&](std::size_t offset) { file.read(offset, bytes); };
  (void)rate(write);  // the file's blocks are made
  DiskSpeed speed;
  speed.write_bytes_per_second = rate(write);
  speed.read_bytes_per_second = rate(read);
  return speed;
}

}  // namespace moil
