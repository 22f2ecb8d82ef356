#include "engine/device/kernel_selector.h"

#include <algorithm>

#include "base/error.h"
#include "engine/device/measure.h"
#include "engine/kernels/parallel.h"

namespace moil {
namespace {

using Kernels = std::vector<std::unique_ptr<ConvKernel>>;

// A later candidate must be faster by this much: between equals the choice is stable.
constexpr double kMargin = 0.97;

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
  return key + " t" + std::to_string(thread_count());
}

std::vector<const Processor*> allowed(const std::vector<std::string>& names) {
  if (names.empty()) return processors();
  std::vector<const Processor*> list;
  for (const std::string& name : names) {
    std::string known;
    const Processor* found = nullptr;
    for (const Processor* p : processors()) {
      known += (known.empty() ? "" : ", ") + std::string(p->name());
      if (p->name() == name) found = p;
    }
    if (!found)
      throw Error(ErrorCode::kInvalidArgument,
                  "processor \"" + name + "\" is not in this build; it has: " + known);
    list.push_back(found);
  }
  return list;
}

std::size_t fastest(const Kernels& kernels, const ConvShape& shape, ConvStep step,
                    const ConvFusion& fusion) {
  const std::vector<double> times = measure(kernels, shape, step, fusion);
  std::size_t best = 0;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i] < times[best] * kMargin) best = i;
  return best;
}

std::size_t least_workspace(const Kernels& kernels) {
  const auto by_workspace = [](const auto& a, const auto& b) {
    return a->workspace_bytes() < b->workspace_bytes();
  };
  return static_cast<std::size_t>(std::min_element(kernels.begin(), kernels.end(), by_workspace) -
                                  kernels.begin());
}

// Keeps those within the limit; the leanest alone where none is.
void keep_within(Kernels& kernels, std::size_t limit) {
  auto leanest = std::move(kernels[least_workspace(kernels)]);
  if (leanest->workspace_bytes() > limit) {
    kernels.clear();
    kernels.push_back(std::move(leanest));
    return;
  }
  *std::find(kernels.begin(), kernels.end(), nullptr) = std::move(leanest);
  std::erase_if(kernels, [&](const auto& k) { return k->workspace_bytes() > limit; });
}

}  // namespace

KernelSelector::KernelSelector() : KernelSelector(Options{}) {}

KernelSelector::KernelSelector(Options options, KernelChoices recorded)
    : options_(std::move(options)),
      processors_(allowed(options_.processors)),
      choices_(std::move(recorded)) {
  if (options_.threads > 0) set_thread_count(options_.threads);
}

std::vector<std::unique_ptr<ConvKernel>> KernelSelector::candidates(
    const ConvShape& shape, ConvStep step, const ConvFusion& fusion) const {
  check(shape);
  Kernels kernels;
  for (const Processor* processor : processors_)
    for (auto& kernel : processor->candidates(shape, step, fusion, options_.exact_arithmetic))
      kernels.push_back(std::move(kernel));
  return kernels;
}

std::unique_ptr<ConvKernel> KernelSelector::recorded(Kernels kernels, const std::string& key,
                                                     const std::string& choice) const {
  for (auto& kernel : kernels)
    if (kernel->name() == choice) return std::move(kernel);
  throw Error(ErrorCode::kFailedPrecondition,
              "the recorded kernel \"" + choice + "\" for \"" + key +
                  "\" is not available in this build or with these options; start afresh, or run "
                  "with what the choice was made with");
}

std::unique_ptr<ConvKernel> KernelSelector::conv(const ConvShape& shape, ConvStep step,
                                                 const ConvFusion& fusion) {
  Kernels kernels = candidates(shape, step, fusion);
  const std::string key = key_of(shape, step, fusion, options_.exact_arithmetic);
  if (const auto it = choices_.find(key); it != choices_.end()) {
    used_[key] = it->second;
    return recorded(std::move(kernels), key, it->second);
  }
  if (kernels.empty())
    throw Error(ErrorCode::kFailedPrecondition,
                "none of the allowed processors computes \"" + key + "\"");
  keep_within(kernels, options_.max_workspace_bytes);
  std::size_t choice = 0;
  if (options_.measure && kernels.size() > 1) {
    try {
      choice = fastest(kernels, shape, step, fusion);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kResourceExhausted) throw;
    }
  }
  used_[key] = choices_[key] = kernels[choice]->name();
  return std::move(kernels[choice]);
}

}  // namespace moil
