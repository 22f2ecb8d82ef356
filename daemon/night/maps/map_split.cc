#include "daemon/night/maps/map_split.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "base/error.h"
#include "base/files/disk_full.h"
#include "base/json/json.h"
#include "engine/model/cut.h"
#include "engine/model/realizers/realizers.h"
#include "engine/model/work.h"
#include "featurecache/ledger.h"
#include "featurecache/value.h"

namespace moil::night {
namespace {

constexpr std::uint64_t kPageBytes = 4096;  // LMDB's, if the system's pages are no larger

double share_of(std::uint64_t room, std::uint64_t bytes) {
  return bytes <= room ? 1 : static_cast<double>(room) / static_cast<double>(bytes);
}

// Splits up to that of LF(n), in the order in which they are computed.
std::vector<MapSplit> splits_of(const ModelDescription& model, const Freeze& freeze,
                                const MapNeeds& needs) {
  const Graph graph = build_graph(realize_pruning(model), 1);
  const std::vector<double> work = multiply_adds(graph);
  std::vector<MapSplit> splits;
  std::vector<double> before;
  double sum = 0;
  std::size_t summed = 0;
  for (const Cut& cut : cuts_of(graph)) {
    std::size_t elements = 1;
    for (const std::int64_t dim : cut.dims) elements *= static_cast<std::size_t>(dim);
    MapSplit split;
    split.value = cut.value;
    split.dims = cut.dims;
    split.map_bytes =
        cache::charge(elements * needs.element_bytes + cache::kValueHeaderBytes, kPageBytes);
    split.bytes = split.map_bytes * needs.maps;
    split.fitting = share_of(needs.room, split.bytes);
    splits.push_back(std::move(split));
    while (summed <= static_cast<std::size_t>(cut.last_node)) sum += work[summed++];
    before.push_back(sum);
    if (cut.value == freeze.split) break;
  }
  for (std::size_t i = 0; i < splits.size(); ++i)
    splits[i].saved = splits[i].fitting * before[i] / std::max(before.back(), 1.0);
  return splits;
}

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

std::string reason(const MapSplit& usual, const MapSplit& chosen, std::uint64_t room) {
  std::string text = "the feature maps of " + usual.value + " take " + megabytes(usual.bytes) +
                     ", and there is room for " + megabytes(room) + ": ";
  const bool is_other = chosen.value != usual.value;
  if (is_other) text += "those of " + chosen.value + " take " + megabytes(chosen.bytes) + ", ";
  if (chosen.fitting < 1)
    text += (is_other ? "of which " : "") + percent(chosen.fitting) + " are kept, and ";
  return text + percent(chosen.saved) + " of the frozen layers' work is spared";
}

}  // namespace

nlohmann::json to_json(const MapSplit& split) {
  return {{"split", split.value},     {"map_bytes", split.map_bytes}, {"bytes", split.bytes},
          {"fitting", split.fitting}, {"saved", split.saved},         {"why", split.why}};
}

MapSplit choose_map_split(const ModelDescription& model, const Freeze& freeze,
                          const MapNeeds& needs) {
  const std::vector<MapSplit> splits = splits_of(model, freeze, needs);
  const MapSplit& usual = splits.back();
  if (usual.fitting == 1) return usual;
  const MapSplit* best = &usual;
  for (const MapSplit& split : splits)
    if (split.saved >= best->saved) best = &split;
  MapSplit chosen = *best;
  chosen.why = reason(usual, chosen, needs.room);
  return chosen;
}

MapSplit known_map_split(const ModelDescription& model, const Freeze& freeze, const MapNeeds& needs,
                         const std::string& value) {
  const std::vector<MapSplit> splits = splits_of(model, freeze, needs);
  const auto known = std::ranges::find(splits, value, &MapSplit::value);
  if (known == splits.end())
    throw Error(ErrorCode::kBadData, "the network has no value \"" + value + "\" to split at");
  MapSplit chosen = *known;
  if (chosen.value != freeze.split) chosen.why = reason(splits.back(), chosen, needs.room);
  return chosen;
}

std::uint64_t count_maps(const data::Mix& mix, const Portion& trained, int views,
                         const data::Kind& kind) {
  const bool means = kind.part_training() == data::PartTraining::kMean;
  const auto of_part = static_cast<std::uint64_t>(views);
  const auto epochs = static_cast<std::uint64_t>(trained.epochs);
  std::uint64_t maps = 0;
  for (const data::MixedSample& sample : trained.samples) {
    const std::uint64_t parts = sample.shown_parts();
    const std::uint64_t shown =
        means ? parts * std::min(of_part, epochs) : std::min(parts * of_part, epochs);
    maps += std::min(parts * of_part, shown + (trained.plain ? parts : 0));
    const bool is_local = !sample.is_global();
    if (is_local && kind.has_silence() && (epochs > 0 || trained.silence)) ++maps;
  }
  for (const auto* held_out : {&mix.global_validation, &mix.local_validation})
    for (const data::MixedSample& sample : *held_out) maps += sample.shown_parts();
  return maps;
}

std::uint64_t room_for_cached_maps(const daemon::StateLayout& layout, const daemon::JobFile& file) {
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
  if (file.cache_quota_bytes > 0) room = static_cast<std::uint64_t>(file.cache_quota_bytes);
  if (const auto free = free_disk_bytes(layout.cache())) {
    std::error_code missing;
    const auto held = std::filesystem::file_size(layout.cache() / "data.mdb", missing);
    const std::uint64_t all = *free + (missing ? 0 : held);
    const auto leave = static_cast<std::uint64_t>(file.leave_free_bytes);
    room = std::min(room, all - std::min(all, leave));
  }
  return room;
}

}  // namespace moil::night
