// A processor besides the CPU: which steps of which layers it computes, and on what memory.
//
// The CPU's own code is the first processor and needs none of this: its steps run on pointers into
// the pool (layers/layer.h). Another one makes a ProcessorStep of what a layer says that it
// computes (operation.h), and runs it on ranges of the pool. Before a step touches a range, whoever
// runs the plan hands it over (hand_over.h): on unified memory access changes hands and no byte
// moves (Sensors 2021, 21, 2364 §3.1), elsewhere bytes are copied.
//
// If the device fails, vanishes or does not answer in time, ProcessorError is thrown: what its
// ranges hold is then undefined, and the processor of no further use. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/device/operation.h"
#include "engine/device/step_kind.h"

namespace moil {

struct AdamCoefficients;
struct SgdCoefficients;

class ProcessorError : public Error {
 public:
  explicit ProcessorError(const std::string& message) : Error(ErrorCode::kIo, message) {}
};

// A part of the pool that passes between host and processor: one stay of one tensor. Two ranges may
// share bytes if they do not live at the same time.
struct MemoryRange {
  std::size_t offset = 0;         // in the pool; a multiple of Processor::alignment()
  std::size_t device_offset = 0;  // in the processor's own memory, if it has its own
  std::size_t bytes = 0;
};

using RangeId = std::int32_t;  // an index into the ranges that attach() was given
inline constexpr RangeId kNoRange = -1;

// A network's memory as a processor sees it. At first nobody holds a range.
class ProcessorMemory {
 public:
  virtual ~ProcessorMemory() = default;
  // To the processor. contents: whether what the host left there matters.
  virtual void take(RangeId range, bool contents) = 0;
  // To the host, and until it is there. contents as above; with `writes` to the host alone,
  // otherwise both may read it from now on.
  virtual void give(RangeId range, bool contents, bool writes) = 0;
  // From whoever holds it to nobody: its life is over.
  virtual void retire(RangeId range) = 0;
  // Until all steps so far have ended.
  virtual void finish() = 0;
  // Whether the device failed and may still be at work: the host's memory must then stay.
  virtual bool is_lost() const = 0;
};

// LayerRun's counterpart: what is not touched is kNoRange.
struct StepRanges {
  std::vector<RangeId> inputs, outputs, output_derivatives, input_derivatives;
  std::vector<RangeId> weights, gradients, saved;
  RangeId workspace = kNoRange;
};
struct StepCall {
  const StepRanges& ranges;
  bool accumulate = false;  // CG adds to the gradients instead of overwriting them
};

// F, CG or CD of one layer in one shape. It allocates no memory of a tensor's size when it runs.
class ProcessorStep {
 public:
  virtual ~ProcessorStep() = default;
  virtual std::size_t workspace_bytes() const { return 0; }
  // May return before the step has ended; later steps and give() see what it wrote.
  virtual void run(ProcessorMemory& memory, const StepCall& call) = 0;
};

// AG of one weight.
struct UpdateRanges {
  RangeId weight = kNoRange, gradient = kNoRange;
  RangeId first_state = kNoRange, second_state = kNoRange;
  std::int64_t elements = 0;
};

class Processor {
 public:
  virtual ~Processor() = default;
  virtual std::string_view name() const = 0;  // "opencl"
  // Device and driver: recorded with what was measured on it.
  virtual std::string device() const = 0;
  // Whether it is the CPU by another name, as a driver may offer it.
  virtual bool is_the_cpu() const = 0;
  // Whether it computes on the host's memory itself; otherwise ranges are copied.
  virtual bool shares_memory() const = 0;
  // What ranges' offsets and the pool's address are aligned to, in bytes; a power of 2.
  virtual std::size_t alignment() const = 0;

  // Null if it has no way of computing this. ProcessorError if it has one that the
  // driver refuses, with the driver's words.
  [[nodiscard]] virtual std::unique_ptr<ProcessorStep> make_step(const Operation& operation,
                                                                 StepKind kind) = 0;
  // kernels/update.h on ranges.
  virtual void update(ProcessorMemory& memory, const SgdCoefficients& k,
                      const UpdateRanges& ranges) = 0;
  virtual void update(ProcessorMemory& memory, const AdamCoefficients& k,
                      const UpdateRanges& ranges) = 0;

  // pool: the host's memory, which outlives what is returned. device_bytes: of memory of its own,
  // if it does not share the host's.
  [[nodiscard]] virtual std::unique_ptr<ProcessorMemory> attach(
      std::span<std::byte> pool, std::size_t device_bytes, std::span<const MemoryRange> ranges) = 0;
};

// One weight's AG, bound to where it happens.
class WeightElsewhere {
 public:
  WeightElsewhere(Processor& processor, ProcessorMemory& memory, const UpdateRanges& ranges)
      : processor_(&processor), memory_(&memory), ranges_(ranges) {}
  void update(const SgdCoefficients& k) const { processor_->update(*memory_, k, ranges_); }
  void update(const AdamCoefficients& k) const { processor_->update(*memory_, k, ranges_); }

 private:
  Processor* processor_;
  ProcessorMemory* memory_;
  UpdateRanges ranges_;
};

struct ProcessorOptions {
  // A part of the device's name, if there are several; empty: a GPU before any other kind.
  std::string device = {};
  // Where what a driver compiled is kept; empty: nowhere.
  std::filesystem::path cache_folder = {};
  // How long one command may take before the device counts as hung.
  double answer_seconds = 60;
  // False: tensors are copied though the device shares the host's memory, as programs do that do
  // not know of it (§3.1, Figure 2b); for comparison.
  bool share_memory = true;
};

// Opens a processor by its name. ProcessorError if the build or the machine has none, saying
// what is missing; kInvalidArgument for an unknown name, with the known ones.
[[nodiscard]] std::unique_ptr<Processor> open_processor(std::string_view name,
                                                        const ProcessorOptions& options = {});

}  // namespace moil
