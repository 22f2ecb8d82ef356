// The maps that an interval's steps begin with, from what there is room for to what is on disk.
//
// What they may take is an input, whatever the disk has free later, so that a run that is resumed
// begins its steps where the first one did. Not thread-safe, but for source(), which may be read
// from a thread of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/elastic/cached_maps.h"
#include "engine/elastic/map_maker.h"
#include "engine/elastic/tail_cut.h"
#include "engine/run/network.h"

namespace moil {

class IntervalMaps {
 public:
  // Where maps are kept, and how much of them at most. No folder: none are.
  struct Place {
    std::filesystem::path folder;
    std::uint64_t limit_bytes = 0;
  };
  // model: complete (model/preparation.h). training: the graph of training it.
  IntervalMaps(const ModelDescription& model, const Graph& training, Place place);

  // What the interval that trains these samples, each as often as it does, may keep. kept: the cut
  // of the intervals before it, and the samples that have maps there.
  [[nodiscard]] TailTerms terms(std::span<const std::int64_t> samples, std::string kept,
                                std::vector<std::int64_t> kept_samples) const;

  // Null for an empty name. kBadData if the model cannot be cut there.
  const TailCut* cut_named(const std::string& value) const;

  // Who makes maps: weights of the whole model, at least, and how (map_maker.h).
  struct Maker {
    WeightMap& weights;
    MapMaker::Options options;
    KernelSelector& kernels;
    const std::function<bool()>& may_go_on;
  };
  struct Filled {
    bool done = true;       // false if may_go_on() ended it
    bool computed = false;  // some were missing
  };
  // Makes those of the samples' maps that are missing; what is there of another cut goes. cut null:
  // all go.
  Filled fill(const TailCut* cut, BatchSource& source, std::span<const std::int64_t> samples,
              const Maker& maker);
  // The samples' maps at the cut that was filled last, or else `images`.
  BatchSource& source(BatchSource& images) { return maps_ ? *maps_ : images; }

 private:
  const ModelDescription& model_;
  const Place place_;
  const std::size_t target_elements_;
  const std::vector<TailCut> cuts_;
  std::unique_ptr<CachedMaps> maps_;
};

// What the maps of a run that begins now may take in the folder: half of what is free, for others
// write, too, and no more than limit_bytes (0: no limit). 0 if the folder cannot be asked.
[[nodiscard]] std::uint64_t room_for_maps(const std::filesystem::path& folder,
                                          std::uint64_t limit_bytes);

}  // namespace moil
