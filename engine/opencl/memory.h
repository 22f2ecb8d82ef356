// A network's memory on an OpenCL device: a buffer a range of the pool.
//
// On unified memory the pool itself is the buffers' memory: a range that the host holds is mapped,
// one that the device holds is not. Elsewhere the device has memory of its own, and ranges are
// copied. Not thread-safe.
#pragma once

#include <span>
#include <vector>

#include "engine/opencl/device.h"

namespace moil::opencl {

class RangeMemory final : public ProcessorMemory {
 public:
  RangeMemory(Device& device, std::span<std::byte> pool, std::size_t device_bytes,
              std::span<const MemoryRange> ranges);
  ~RangeMemory() override;

  void take(RangeId range, bool contents) override;
  void give(RangeId range, bool contents, bool writes) override;
  void retire(RangeId range) override;
  void finish() override { device_.finish(); }
  bool is_lost() const override { return device_.is_lost(); }

  // Null for kNoRange.
  cl_mem buffer(RangeId range) const {
    return range == kNoRange ? nullptr : buffers_[static_cast<std::size_t>(range)].get();
  }

 private:
  std::byte* host(std::size_t range) const { return pool_.data() + ranges_[range].offset; }
  void map(std::size_t range, cl_map_flags flags);
  void unmap(std::size_t range);

  Device& device_;
  std::span<std::byte> pool_;
  std::vector<MemoryRange> ranges_;
  Memory whole_;
  std::vector<Memory> buffers_;
  std::vector<void*> mapped_;  // null if the host does not hold it
};

}  // namespace moil::opencl
