// One OpenCL device with its context and queue, and the programs that were built for it.
//
// Commands run in the order in which they are queued. One thread at a time. Errors are
// ProcessorError.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "engine/opencl/handles.h"

namespace moil::opencl {

struct DeviceOptions {
  // A part of the device's name; empty: a GPU before an accelerator before a CPU.
  std::string name;
  // Where built programs are kept; empty: nowhere.
  std::filesystem::path cache_folder;
  // How long one command may take before the device counts as hung.
  double answer_seconds = 60;
  bool share_memory = true;  // if the device can
};

class Device {
 public:
  explicit Device(const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // "Mali-T628 (OpenCL 1.2 v1.r12p0, driver 1.2)".
  const std::string& description() const { return description_; }
  bool is_the_cpu() const { return is_the_cpu_; }
  bool shares_memory() const { return shares_memory_; }
  std::size_t alignment() const { return alignment_; }
  std::size_t largest_allocation() const { return largest_allocation_; }

  cl_context context() const { return context_.get(); }
  cl_command_queue queue() const { return queue_.get(); }

  // The program of this source, built once and kept. If a folder keeps built ones, one that is
  // damaged or of another driver is built anew.
  cl_program program(const char* source);

  // Until the command has ended. If it does not in time, or the driver does not show it, the device
  // counts as lost: nothing of it is freed, for a driver that hangs would hang there, too, and a
  // command may still be under way in its memory.
  void wait(const Event& event);
  // Until all commands so far have ended.
  void finish();
  bool is_lost() const { return lost_; }
  // Checks a call without which nobody knows what has ended: if it fails, the device is lost.
  void require(cl_int code, const char* call);

 private:
  void choose(const std::string& name);
  void lose();
  cl_int status_of(const Event& event);
  Program build(const char* source);
  std::filesystem::path cache_file(const char* source) const;

  DeviceOptions options_;
  cl_device_id id_ = nullptr;
  std::string description_;
  bool is_the_cpu_ = false, shares_memory_ = false;
  std::size_t alignment_ = 64, largest_allocation_ = 0;
  Context context_;
  Queue queue_;
  std::map<const char*, Program> programs_;
  bool lost_ = false;
};

}  // namespace moil::opencl
