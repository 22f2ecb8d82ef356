#include "daemon/night/judge.h"

#include "engine/graph/preparation.h"
#include "engine/train/evaluate.h"

namespace moil::night {
namespace {

constexpr std::int64_t kBatch = 16;

std::optional<double> accuracy(Network& network, const std::vector<data::MixedSample>& samples,
                               FeatureReader& reader) {
  if (samples.empty()) return std::nullopt;
  FeatureSource source(
      samples, static_cast<std::size_t>(network.output_info(0).dims.elements_per_sample()), reader);
  return evaluate(network, source).accuracy;
}

}  // namespace

Judgement judge(const ModelDescription& head, const WeightMap& weights, const data::Mix& mix,
                FeatureReader& reader, KernelSelector& kernels) {
  WeightMap prepared_weights;
  for (const Node& node : build_graph(head, 1).nodes) {
    for (const WeightSpec& w : node.weights) {
      if (const auto it = weights.find(weight_name(node, w)); it != weights.end())
        prepared_weights.insert(*it);
    }
  }
  const ModelDescription prepared = prepare_inference(head, prepared_weights);
  Network network(prepared, {.batch = kBatch, .plan = {}}, kernels);
  network.allocate();
  network.load(prepared_weights);
  return {accuracy(network, mix.global_validation, reader),
          accuracy(network, mix.local_validation, reader)};
}

}  // namespace moil::night
