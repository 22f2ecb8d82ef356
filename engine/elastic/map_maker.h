// What stands before a cut, as inference has it: batch norms go by their statistics. A map is the
// same bits in every batch of a size (device/kernel_selector.h).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>

#include "engine/elastic/cached_maps.h"
#include "engine/elastic/tail_cut.h"
#include "engine/run/network.h"

namespace moil {

// One thread.
class MapMaker {
 public:
  struct Options {
    std::int64_t batch = 1;
    // If the fastest network may take more, it computes as in training: batch norms are layers,
    // weights are not packed once for all passes, and it has those of `weights` meanwhile instead
    // of copies.
    std::size_t memory_bytes = std::numeric_limits<std::size_t>::max();
  };
  // model: complete (model/preparation.h). weights: of all of it, at least; they outlive this, and
  // are whole again behind it. Has memory from here on.
  MapMaker(const ModelDescription& model, const TailCut& cut, WeightMap& weights,
           const Options& options, KernelSelector& kernels);
  ~MapMaker();
  MapMaker(const MapMaker&) = delete;
  MapMaker& operator=(const MapMaker&) = delete;

  // Adds the maps of these indices of the source. may_go_on is asked before each batch; false if
  // it ended the work.
  bool make(BatchSource& source, std::span<const std::int64_t> indices, CachedMaps& maps,
            const std::function<bool()>& may_go_on);

 private:
  const std::int64_t batch_;
  std::unique_ptr<Network> network_;
  WeightMap* lent_ = nullptr;  // the map whose weights the lean network has
};

}  // namespace moil
