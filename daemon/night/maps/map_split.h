// Which value the feature maps are of: the split of LF(n), or, if its maps do not fit into the
// cache, one further back whose maps are smaller. The layers between then run in every step.
//
// Bytes against seconds, told in advance: bytes are arithmetic, and seconds of frozen layers go by
// their multiply-adds. Pure functions, but for room_for_cached_maps().
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "daemon/night/maps/portion.h"
#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"
#include "datasets/kinds/kind.h"
#include "datasets/sampling/mix.h"
#include "engine/model/freeze.h"

namespace moil::night {

struct MapSplit {
  std::string value;
  std::vector<std::int64_t> dims;  // of one sample
  std::uint64_t map_bytes = 0;     // of one map on disk, with what the cache keeps of it
  std::uint64_t bytes = 0;         // of all
  double fitting = 1;              // share of the maps that there is room for
  double saved = 1;                // share of the frozen layers' work that they spare an epoch
  std::string why;                 // if it is not the split of LF(n), or not all fit
};

// {"split", "map_bytes", "bytes", "fitting", "saved", "why"}
[[nodiscard]] nlohmann::json to_json(const MapSplit& split);

struct MapNeeds {
  std::uint64_t maps = 0;  // to keep
  std::size_t element_bytes = sizeof(float);
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();  // bytes
};

// freeze.split is not empty. The split of LF(n) if its maps fit; else the one before it that
// spares most, the later of equals.
[[nodiscard]] MapSplit choose_map_split(const ModelDescription& model, const Freeze& freeze,
                                        const MapNeeds& needs);
// What a night recorded that began with another split than freeze's.
[[nodiscard]] MapSplit known_map_split(const ModelDescription& model, const Freeze& freeze,
                                       const MapNeeds& needs, const std::string& value);

// Feature maps of a night: what is asked of training samples, which have so many views, and the
// plain view of the others.
[[nodiscard]] std::uint64_t count_maps(const data::Mix& mix, const Portion& trained, int views,
                                       const data::Kind& kind);

// By the quota, and by what is free on the disk. What the cache holds already may make room.
[[nodiscard]] std::uint64_t room_for_cached_maps(const daemon::StateLayout& layout,
                                                 const daemon::JobFile& file);

}  // namespace moil::night
