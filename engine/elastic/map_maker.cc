#include "engine/elastic/map_maker.h"

#include <algorithm>
#include <vector>

#include "engine/graph/preparation.h"
#include "engine/graph/realizers/realizers.h"

namespace moil {
MapMaker::MapMaker(const ModelDescription& model, const TailCut& cut, const WeightMap& weights,
                   std::int64_t batch, KernelSelector& kernels)
    : MapMaker(realize_slice(model, cut.cut.value, cut.cut.dims).backbone, weights, batch,
               kernels) {}

MapMaker::MapMaker(const ModelDescription& backbone, const WeightMap& weights, std::int64_t batch,
                   KernelSelector& kernels)
    : batch_(batch),
      weights_(weights_of(backbone, weights)),
      network_(prepare_inference(backbone, weights_), NetworkOptions{.batch = batch, .plan = {}},
               kernels) {
  network_.allocate();
  network_.move_in(weights_);
}

bool MapMaker::make(BatchSource& source, std::span<const std::int64_t> indices, CachedMaps& maps,
                    const std::function<bool()>& may_go_on) {
  maps.reserve(indices.size());
  const auto batch = static_cast<std::size_t>(batch_);
  const std::size_t elements = maps.shape().map_elements;
  const std::size_t target_elements = maps.shape().target_elements;
  std::vector<float> targets(batch * target_elements);
  std::vector<std::int64_t> some(batch);
  for (std::size_t begin = 0; begin < indices.size(); begin += batch) {
    if (may_go_on && !may_go_on()) return false;
    const std::size_t count = std::min(batch, indices.size() - begin);
    // The last ones are filled up: a map is the same in every batch.
    for (std::size_t i = 0; i < batch; ++i) some[i] = indices[begin + std::min(i, count - 1)];
    source.read(some, network_.input(0), targets.data());
    network_.forward();
    for (std::size_t i = 0; i < count; ++i) {
      maps.add(some[i], {network_.output(0) + i * elements, elements},
               std::span<const float>(targets).subspan(i * target_elements, target_elements));
    }
  }
  return true;
}

}  // namespace moil
