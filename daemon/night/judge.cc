#include "daemon/night/judge.h"

#include "daemon/night/model_folder.h"
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

// The head as it is judged: folded and fused, with the weights that it then has.
struct Prepared {
  Prepared(const ModelDescription& head, const WeightMap& all, KernelSelector& kernels)
      : weights(weights_of(head, all)),
        description(prepare_inference(head, weights)),
        network(description, {.batch = kBatch, .plan = {}}, kernels) {}

  WeightMap weights;
  ModelDescription description;
  Network network;
};

}  // namespace

Judgement judge(const ModelDescription& head, const WeightMap& weights, const data::Mix& mix,
                FeatureReader& reader, KernelSelector& kernels) {
  Prepared prepared(head, weights, kernels);
  prepared.network.allocate();
  prepared.network.load(prepared.weights);
  return {accuracy(prepared.network, mix.global_validation, reader),
          accuracy(prepared.network, mix.local_validation, reader)};
}

std::size_t judging_bytes(const ModelDescription& head, const WeightMap& weights,
                          KernelSelector& kernels) {
  const Prepared prepared(head, weights, kernels);
  return prepared.network.plan().memory.total_bytes + weight_bytes(prepared.weights);
}

}  // namespace moil::night
