#include "engine/elastic/map_maker.h"

#include <algorithm>
#include <vector>

#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
namespace {

// What a Winograd kernel packs of a 3x3 weight, at most.
constexpr std::size_t kMostPacked = 4;

// Batch norms folded, and weights packed.
std::unique_ptr<Network> fast_network(const ModelDescription& backbone, const WeightMap& weights,
                                      const NetworkOptions& options, KernelSelector& kernels) {
  WeightMap folded = weights_of(backbone, weights);
  auto network = std::make_unique<Network>(prepare_inference(backbone, folded), options, kernels);
  network->allocate();
  network->move_in(folded);
  return network;
}

// As in training, by the kernels that were chosen there: measuring others would take memory, too.
std::unique_ptr<Network> lean_network(const ModelDescription& backbone, WeightMap& weights,
                                      NetworkOptions options, KernelSelector& kernels) {
  options.plan.pack_convolutions = false;
  auto network = std::make_unique<Network>(realize_inference(backbone), options, kernels);
  network->allocate();
  network->move_in(weights);
  return network;
}

}  // namespace

MapMaker::MapMaker(const ModelDescription& model, const TailCut& cut, WeightMap& weights,
                   const Options& options, KernelSelector& kernels)
    : batch_(options.batch) {
  const ModelDescription backbone = realize_slice(model, cut.cut.value, cut.cut.dims).backbone;
  const NetworkOptions network = {.batch = batch_, .plan = {}};
  if (kMostPacked * weight_bytes(build_graph(backbone, 1)) <= options.memory_bytes) {
    network_ = fast_network(backbone, weights, network, kernels);
  } else {
    network_ = lean_network(backbone, weights, network, kernels);
    lent_ = &weights;
  }
}

MapMaker::~MapMaker() {
  Network::OptimizerStates none;
  if (lent_) network_->move_out(*lent_, none);
}

bool MapMaker::make(BatchSource& source, std::span<const std::int64_t> indices, CachedMaps& maps,
                    const std::function<bool()>& may_go_on) {
  maps.reserve(indices.size());
  const auto batch = static_cast<std::size_t>(batch_);
  const std::size_t elements = maps.shape().map_elements;
  const std::size_t target_elements = maps.shape().target_elements;
  std::vector<float> targets(batch * target_elements);
  const NetworkBatch inputs(*network_);
  const BatchTensor target{"target", target_elements, targets};
  std::vector<std::int64_t> some(batch);
  for (std::size_t begin = 0; begin < indices.size(); begin += batch) {
    if (may_go_on && !may_go_on()) return false;
    const std::size_t count = std::min(batch, indices.size() - begin);
    // The last ones are filled up: a map is the same in every batch.
    for (std::size_t i = 0; i < batch; ++i) some[i] = indices[begin + std::min(i, count - 1)];
    source.read(some, {inputs.inputs(), {&target, 1}});
    network_->forward();
    for (std::size_t i = 0; i < count; ++i) {
      maps.add(some[i], {network_->output(0) + i * elements, elements},
               std::span<const float>(targets).subspan(i * target_elements, target_elements));
    }
  }
  return true;
}

}  // namespace moil
