#include "engine/device/conv/kernel_selector.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "engine/device/conv/measure.h"
#include "engine/device/conv/measuring_time.h"
#include "engine/device/conv/sliced_conv.h"
#include "engine/kernels/parallel.h"

namespace moil {
namespace {

using Kernels = std::vector<std::unique_ptr<ConvKernel>>;

// A later candidate must be faster by this much: between equals the choice is stable.
constexpr double kMargin = 0.97;
constexpr std::int64_t kMostSlices = 64;

std::string key_of(const ConvShape& shape, ConvStep step, const ConvFusion& fusion, bool exact) {
  std::string text = shape.to_string();
  // Samples do not depend on their batch, so their kernel may not either.
  if (fusion.constant_weights) text.replace(0, text.find(' '), "b*");
  std::string key = "conv " + std::string(to_string(step)) + " " + text;
  if (step == ConvStep::kForward) {
    if (fusion.bias) key += " bias";
    if (fusion.activation != FusedActivation::kNone)
      key += " " + std::string(to_string(fusion.activation));
    if (fusion.constant_weights) key += " constant";
  }
  if (exact) key += " exact";
  // What the threads are is no reason to compute cached feature maps by another kernel.
  if (fusion.constant_weights) return key;
  return key + " t" + std::to_string(thread_count());
}

std::vector<const KernelProvider*> allowed(const std::vector<std::string>& names) {
  if (names.empty()) return kernel_providers();
  std::vector<const KernelProvider*> list;
  for (const std::string& name : names) {
    std::string known;
    const KernelProvider* found = nullptr;
    for (const KernelProvider* p : kernel_providers()) {
      known += (known.empty() ? "" : ", ") + std::string(p->name());
      if (p->name() == name) found = p;
    }
    if (!found)
      throw Error(ErrorCode::kInvalidArgument,
                  "kernel provider \"" + name + "\" is not in this build; it has: " + known);
    list.push_back(found);
  }
  return list;
}

std::size_t fastest(const std::vector<double>& seconds) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < seconds.size(); ++i)
    if (seconds[i] < seconds[best] * kMargin) best = i;
  return best;
}

std::size_t least_workspace(const Kernels& kernels) {
  const auto by_workspace = [](const auto& a, const auto& b) {
    return a->workspace_bytes() < b->workspace_bytes();
  };
  return static_cast<std::size_t>(std::min_element(kernels.begin(), kernels.end(), by_workspace) -
                                  kernels.begin());
}

[[noreturn]] void refuse_recorded(const std::string& key, const std::string& choice) {
  throw Error(ErrorCode::kFailedPrecondition,
              "the recorded kernel \"" + choice + "\" for \"" + key +
                  "\" is not available in this build or with these options; start afresh, or run "
                  "with what the choice was made with");
}

bool all_within(const Kernels& kernels, std::size_t limit) {
  return std::all_of(kernels.begin(), kernels.end(),
                     [&](const auto& k) { return k->workspace_bytes() <= limit; });
}

// Down to three binary digits: few different limits, so that few different choices are measured.
std::size_t rounded_limit(std::size_t limit) {
  const std::size_t step = std::max<std::size_t>(1, std::bit_floor(limit) / 4);
  return limit / step * step;
}

std::string within_key(const std::string& key, std::size_t limit) {
  return key + " within " + std::to_string(limit);
}

}  // namespace

KernelSelector::KernelSelector() : KernelSelector(Options{}) {}

KernelSelector::KernelSelector(Options options, KernelChoices recorded, KernelChoices profile)
    : options_(std::move(options)),
      providers_(allowed(options_.providers)),
      choices_(std::move(recorded)),
      profile_(std::move(profile)) {
  if (options_.threads > 0) set_thread_count(options_.threads);
}

std::vector<std::unique_ptr<ConvKernel>> KernelSelector::candidates(
    const ConvShape& shape, ConvStep step, const ConvFusion& fusion) const {
  return made(shape, step, fusion, /*only=*/std::nullopt);
}

KernelSelector::Kernels KernelSelector::made(const ConvShape& shape, ConvStep step,
                                             const ConvFusion& fusion,
                                             std::optional<std::string_view> only) const {
  check(shape);
  Kernels kernels;
  for (const KernelProvider* provider : providers_)
    for (auto& kernel : provider->candidates(shape, step, fusion, options_.exact_arithmetic, only))
      kernels.push_back(std::move(kernel));
  return kernels;
}

// The kernel of this name for a part of the batch, run part by part; null if there is none.
std::unique_ptr<ConvKernel> KernelSelector::sliced(std::string_view kernel, std::int64_t slices,
                                                   const ConvShape& shape, ConvStep step,
                                                   const ConvFusion& fusion) const {
  if (shape.batch % slices != 0) return nullptr;
  ConvShape part = shape;
  part.batch /= slices;
  Kernels parts = made(part, step, fusion, kernel);
  return parts.empty() ? nullptr : make_sliced_conv(std::move(parts[0]), shape, step, slices);
}

// The kernel of this name in as few slices as are within the limit; null if there is no such
// number.
std::unique_ptr<ConvKernel> KernelSelector::in_slices(std::string_view kernel, std::size_t limit,
                                                      const ConvShape& shape, ConvStep step,
                                                      const ConvFusion& fusion) const {
  // A sample's result may not depend on its batch if weights are constant: such kernels work sample
  // by sample already.
  if (fusion.constant_weights || limit == 0) return nullptr;
  const std::int64_t most = std::min<std::int64_t>(shape.batch, kMostSlices);
  for (std::int64_t slices = 2; slices <= most && shape.batch % slices == 0; slices *= 2) {
    auto parts = sliced(kernel, slices, shape, step, fusion);
    if (parts && parts->workspace_bytes() <= limit) return parts;
  }
  return nullptr;
}

// The kernel of a recorded name; null if there is none.
std::unique_ptr<ConvKernel> KernelSelector::named(const std::string& name, const ConvShape& shape,
                                                  ConvStep step, const ConvFusion& fusion) const {
  const auto [kernel, slices] = split_sliced_name(name);
  if (slices > 1) return sliced(kernel, slices, shape, step, fusion);
  Kernels found = made(shape, step, fusion, kernel);
  return found.empty() ? nullptr : std::move(found[0]);
}

// Those within the limit, as they are or in slices; the leanest alone if none is within it.
KernelSelector::Kernels KernelSelector::within(Kernels kernels, std::size_t limit,
                                               const ConvShape& shape, ConvStep step,
                                               const ConvFusion& fusion) const {
  Kernels kept;
  const std::size_t leanest = least_workspace(kernels);
  std::unique_ptr<ConvKernel> least;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i]->workspace_bytes() <= limit) {
      kept.push_back(std::move(kernels[i]));
      continue;
    }
    auto parts = in_slices(kernels[i]->name(), limit, shape, step, fusion);
    if (parts) kept.push_back(std::move(parts));
    if (i == leanest) least = std::move(kernels[i]);
  }
  if (kept.empty()) kept.push_back(std::move(least));
  return kept;
}

// What was recorded under one plan need not fit into another. Nothing is measured then: a run that
// is resumed must come to the same.
std::unique_ptr<ConvKernel> KernelSelector::recorded(const std::string& key, std::size_t limit,
                                                     const ConvShape& shape, ConvStep step,
                                                     const ConvFusion& fusion) {
  const std::string& name = choices_.at(key);
  auto kernel = named(name, shape, step, fusion);
  if (!kernel) refuse_recorded(key, name);
  // Cached feature maps hang on the choice for constant weights.
  if (fusion.constant_weights || kernel->workspace_bytes() <= limit) {
    used_[key] = name;
    return kernel;
  }
  kernel = in_slices(split_sliced_name(name).first, limit, shape, step, fusion);
  if (!kernel)
    kernel = std::move(within(candidates(shape, step, fusion), limit, shape, step, fusion)[0]);
  used_[within_key(key, limit)] = kernel->name();
  return kernel;
}

std::optional<std::size_t> KernelSelector::choose(const Kernels& kernels, const ConvShape& shape,
                                                  ConvStep step, const ConvFusion& fusion) const {
  if (!options_.measure || kernels.size() < 2) return 0;
  try {
    const std::vector<double> seconds = seconds_of(kernels, shape, step, fusion);
    if (options_.time) options_.time->count(!seconds.empty());
    if (seconds.empty()) return std::nullopt;
    return fastest(seconds);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kResourceExhausted) throw;
    return 0;
  }
}

// On a part of the batch if that is enough and all of them compute it.
std::vector<double> KernelSelector::seconds_of(const Kernels& kernels, const ConvShape& shape,
                                               ConvStep step, const ConvFusion& fusion) const {
  constexpr int kRuns = 3;
  const MeasuringTime::Running running(options_.time);
  ConvShape part = shape;
  part.batch = measured_batch(shape, fusion);
  if (part.batch < shape.batch && !(options_.time && options_.time->is_over())) {
    Kernels parts;
    for (const auto& kernel : kernels) {
      Kernels same = made(part, step, fusion, kernel->name());
      if (!same.empty()) parts.push_back(std::move(same[0]));
    }
    if (parts.size() == kernels.size())
      return measure(parts, part, step, fusion, kRuns, options_.time);
  }
  return measure(kernels, shape, step, fusion, kRuns, options_.time);
}

std::unique_ptr<ConvKernel> KernelSelector::conv(const ConvShape& shape, ConvStep step,
                                                 const ConvFusion& fusion,
                                                 std::size_t max_workspace) {
  const std::string key = key_of(shape, step, fusion, options_.exact_arithmetic);
  const std::size_t limit = std::min(rounded_limit(max_workspace), options_.max_workspace_bytes);
  if (max_workspace != 0 && choices_.contains(key))
    return recorded(key, limit, shape, step, fusion);
  Kernels kernels = candidates(shape, step, fusion);
  if (kernels.empty())
    throw Error(ErrorCode::kFailedPrecondition,
                "none of the allowed providers computes \"" + key + "\"");
  if (max_workspace == 0) return std::move(kernels[least_workspace(kernels)]);
  const bool limited = !all_within(kernels, limit);
  const std::string measured = limited ? within_key(key, limit) : key;
  std::unique_ptr<ConvKernel> kernel;
  bool keep = true;
  if (const auto it = profile_.find(measured); it != profile_.end())
    kernel = named(it->second, shape, step, fusion);
  if (!kernel) {
    if (limited) kernels = within(std::move(kernels), limit, shape, step, fusion);
    const auto chosen = choose(kernels, shape, step, fusion);
    keep = chosen || fusion.constant_weights;
    kernel = std::move(kernels[chosen.value_or(0)]);
  }
  used_[key] = choices_[key] = kernel->name();
  if (keep) profile_[measured] = kernel->name();
  return kernel;
}

}  // namespace moil
