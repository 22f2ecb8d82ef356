#include "daemon/night/judge.h"

#include "daemon/night/head_network.h"
#include "engine/train/evaluate.h"

namespace moil::night {
namespace {

std::optional<double> accuracy(Network& network, const std::vector<data::MixedSample>& samples,
                               FeatureReader& reader) {
  if (samples.empty()) return std::nullopt;
  FeatureSource source(
      samples, static_cast<std::size_t>(network.output_info(0).dims.elements_per_sample()), reader);
  return evaluate(network, source).accuracy;
}

}  // namespace

Judgement judge(const ModelDescription& head, const WeightsOfPart& weights, const data::Mix& mix,
                FeatureReader& reader, KernelSelector& kernels) {
  HeadNetwork judged(head, kernels);
  judged.allocate(weights);
  return {accuracy(judged.network(), mix.global_validation, reader),
          accuracy(judged.network(), mix.local_validation, reader)};
}

}  // namespace moil::night
