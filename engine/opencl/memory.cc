#include "engine/opencl/memory.h"

namespace moil::opencl {

RangeMemory::RangeMemory(Device& device, std::span<std::byte> pool, std::size_t device_bytes,
                         std::span<const MemoryRange> ranges)
    : device_(device),
      pool_(pool),
      ranges_(ranges.begin(), ranges.end()),
      mapped_(ranges.size(), nullptr) {
  const bool shares = device.shares_memory();
  const std::size_t bytes = shares ? pool.size() : device_bytes;
  if (bytes > device.largest_allocation())
    throw ProcessorError("OpenCL: " + device.description() + " has room for " +
                         std::to_string(device.largest_allocation()) + " bytes at a time, not " +
                         std::to_string(bytes));
  cl_int code = CL_SUCCESS;
  whole_.reset(clCreateBuffer(device.context(),
                              CL_MEM_READ_WRITE | (shares ? CL_MEM_USE_HOST_PTR : 0), bytes,
                              shares ? pool.data() : nullptr, &code));
  check(code, "clCreateBuffer");
  for (const MemoryRange& range : ranges_) {
    const cl_buffer_region region{shares ? range.offset : range.device_offset, range.bytes};
    buffers_.emplace_back(clCreateSubBuffer(whole_.get(), CL_MEM_READ_WRITE,
                                            CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    check(code, "clCreateSubBuffer");
  }
}

RangeMemory::~RangeMemory() {
  if (!device_.is_lost()) {
    try {
      for (std::size_t r = 0; r < ranges_.size(); ++r) unmap(r);
      device_.finish();
    } catch (const Error&) {
      // It is lost now.
    }
  }
  if (!device_.is_lost()) return;
  for (Memory& buffer : buffers_) (void)buffer.release();
  (void)whole_.release();
}

void RangeMemory::map(std::size_t range, cl_map_flags flags) {
  cl_int code = CL_SUCCESS;
  cl_event event = nullptr;
  void* address = clEnqueueMapBuffer(device_.queue(), buffers_[range].get(), CL_FALSE, flags, 0,
                                     ranges_[range].bytes, 0, nullptr, &event, &code);
  check(code, "clEnqueueMapBuffer");
  mapped_[range] = address;
  device_.wait(Event(event));
  if (address != host(range))
    throw ProcessorError("OpenCL: " + device_.description() +
                         " says that it shares the host's memory, and maps it elsewhere");
}

void RangeMemory::unmap(std::size_t range) {
  if (mapped_[range] == nullptr) return;
  device_.require(clEnqueueUnmapMemObject(device_.queue(), buffers_[range].get(), mapped_[range], 0,
                                          nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
  mapped_[range] = nullptr;
}

void RangeMemory::take(RangeId id, bool contents) {
  const auto range = static_cast<std::size_t>(id);
  if (device_.shares_memory()) return unmap(range);
  if (!contents) return;
  cl_event event = nullptr;
  check(clEnqueueWriteBuffer(device_.queue(), buffers_[range].get(), CL_FALSE, 0,
                             ranges_[range].bytes, host(range), 0, nullptr, &event),
        "clEnqueueWriteBuffer");
  device_.wait(Event(event));
}

void RangeMemory::give(RangeId id, bool contents, bool writes) {
  const auto range = static_cast<std::size_t>(id);
  if (device_.shares_memory()) {
    unmap(range);
    cl_map_flags flags = CL_MAP_READ;
    if (writes) flags = contents ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_WRITE_INVALIDATE_REGION;
    return map(range, flags);
  }
  if (!contents) return;
  cl_event event = nullptr;
  check(clEnqueueReadBuffer(device_.queue(), buffers_[range].get(), CL_FALSE, 0,
                            ranges_[range].bytes, host(range), 0, nullptr, &event),
        "clEnqueueReadBuffer");
  device_.wait(Event(event));
}

void RangeMemory::retire(RangeId range) { unmap(static_cast<std::size_t>(range)); }

}  // namespace moil::opencl
