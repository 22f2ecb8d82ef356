// Which provider and algorithm computes which step: chosen by measurement, once, and recorded
// (the choice between processors is another: device/selection.h).
//
// The choices are part of what makes a run repeatable: they go into checkpoints, and into the key
// of cached feature maps. A selector that is given them uses them and measures only what is new.
// Not thread-safe. Errors are moil::Error.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/conv/conv_kernel.h"

namespace moil {

class MeasuringTime;

// From what is computed ("conv F 24x56x56 -> 144 k1x1 ... t2") to who does it ("native/gemm").
using KernelChoices = std::map<std::string, std::string>;

class KernelSelector {
 public:
  struct Options {
    bool exact_arithmetic = false;  // no algorithm that rounds otherwise than sums of products
    std::size_t max_workspace_bytes = std::numeric_limits<std::size_t>::max();  // a kernel's
    std::vector<std::string> providers;  // allowed ones by name; empty: all of this build
    bool measure = true;                 // false: the first candidate, without running anything
    int threads = 0;                     // 0: thread_count()
    // For all measuring; when it is over, the first candidate is taken. Null: as long as it takes.
    MeasuringTime* time = nullptr;
  };

  KernelSelector();
  // recorded: choices that bind. profile: what measurements led to before, which spares measuring
  // if it fits. Throws kInvalidArgument for a provider that this build does not have.
  explicit KernelSelector(Options options, KernelChoices recorded = {}, KernelChoices profile = {});

  // The kernel for a step: as recorded, otherwise the fastest candidate, which is then recorded.
  // With fusion.constant_weights the choice is one for all batch sizes and thread counts, and is
  // kept in the profile measured or not: cached feature maps hang on it. Measuring allocates
  // scratch tensors of the shape's size (or of a part of its batch, if that is enough) and frees
  // them; if there is no memory for them the first candidate is taken. A kernel that needs more
  // than max_workspace (or the options' limit) is run in slices of the batch that fit; if none
  // fits, the one with the least is taken. A recorded kernel that needs more is run in slices, too,
  // or gives way to the first candidate that fits, without measuring: that depends on the record
  // and the limit alone, and leaves the record as it is. With constant weights the recorded kernel
  // is used whatever it needs. max_workspace 0: the leanest of all, which is not recorded. Throws
  // kFailedPrecondition if the recorded choice is not available in this build, and kInvalidArgument
  // for an impossible shape.
  [[nodiscard]] std::unique_ptr<ConvKernel> conv(const ConvShape& shape, ConvStep step,
                                                 const ConvFusion& fusion = {},
                                                 std::size_t max_workspace = kNoLimit);
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  // All kernels this selector may choose from, best guess first (benchmarks and tests).
  [[nodiscard]] std::vector<std::unique_ptr<ConvKernel>> candidates(
      const ConvShape& shape, ConvStep step, const ConvFusion& fusion = {}) const;

  // All that was recorded so far, given or measured: for checkpoints and cache keys.
  const KernelChoices& choices() const { return choices_; }
  // What measurements led to, the given profile included; choices under a limit by keys of their
  // own.
  const KernelChoices& profile() const { return profile_; }
  // The choices that this selector was asked for: what its networks really compute with.
  const KernelChoices& used_choices() const { return used_; }
  const Options& options() const { return options_; }

 private:
  using Kernels = std::vector<std::unique_ptr<ConvKernel>>;
  std::unique_ptr<ConvKernel> sliced(std::string_view kernel, std::int64_t slices,
                                     const ConvShape& shape, ConvStep step,
                                     const ConvFusion& fusion) const;
  std::unique_ptr<ConvKernel> in_slices(std::string_view kernel, std::size_t limit,
                                        const ConvShape& shape, ConvStep step,
                                        const ConvFusion& fusion) const;
  std::unique_ptr<ConvKernel> named(const std::string& name, const ConvShape& shape, ConvStep step,
                                    const ConvFusion& fusion) const;
  std::unique_ptr<ConvKernel> recorded(const std::string& key, std::size_t limit,
                                       const ConvShape& shape, ConvStep step,
                                       const ConvFusion& fusion);
  Kernels made(const ConvShape& shape, ConvStep step, const ConvFusion& fusion,
               std::optional<std::string_view> only) const;
  Kernels within(Kernels kernels, std::size_t limit, const ConvShape& shape, ConvStep step,
                 const ConvFusion& fusion) const;
  // The place of the one to take; none if there was no time to measure.
  std::optional<std::size_t> choose(const Kernels& kernels, const ConvShape& shape, ConvStep step,
                                    const ConvFusion& fusion) const;
  std::vector<double> seconds_of(const Kernels& kernels, const ConvShape& shape, ConvStep step,
                                 const ConvFusion& fusion) const;

  Options options_;
  std::vector<const KernelProvider*> providers_;
  KernelChoices choices_, used_, profile_;
};

}  // namespace moil
