// What stands before a cut, as inference has it: batch norms folded, by their statistics. A map is
// the same bits in every batch (device/kernel_selector.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/elastic/cached_maps.h"
#include "engine/elastic/tail_cut.h"
#include "engine/graph/network.h"

namespace moil {

// One thread.
class MapMaker {
 public:
  // model: complete (graph/preparation.h). weights: of all of it, at least. Has memory from here
  // on.
  MapMaker(const ModelDescription& model, const TailCut& cut, const WeightMap& weights,
           std::int64_t batch, KernelSelector& kernels);

  // Adds the maps of these indices of the source. may_go_on is asked before each batch; false where
  // it ended the work.
  bool make(BatchSource& source, std::span<const std::int64_t> indices, CachedMaps& maps,
            const std::function<bool()>& may_go_on);

 private:
  MapMaker(const ModelDescription& backbone, const WeightMap& weights, std::int64_t batch,
           KernelSelector& kernels);

  const std::int64_t batch_;
  WeightMap weights_;
  Network network_;
};

}  // namespace moil
