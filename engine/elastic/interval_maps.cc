#include "engine/elastic/interval_maps.h"

#include <algorithm>

#include "base/error.h"
#include "engine/elastic/map_maker.h"

namespace moil {
namespace {

std::int64_t distinct(std::vector<std::int64_t> indices) {
  std::ranges::sort(indices);
  return std::unique(indices.begin(), indices.end()) - indices.begin();
}

std::size_t elements_of_target(const Graph& graph) {
  const Value& value = graph.values[static_cast<std::size_t>(graph.inputs.back())];
  return static_cast<std::size_t>(value.info.dims.elements_per_sample());
}

}  // namespace

IntervalMaps::IntervalMaps(const ModelDescription& model, const Graph& training, Place place)
    : model_(model),
      place_(std::move(place)),
      target_elements_(elements_of_target(training)),
      cuts_(tail_cuts(model, training)) {}

TailTerms IntervalMaps::terms(std::span<const std::int64_t> samples, std::string kept,
                              std::vector<std::int64_t> kept_samples) const {
  TailTerms tail;
  if (place_.folder.empty()) return tail;
  const auto trained = static_cast<double>(samples.size());
  const std::int64_t maps = distinct({samples.begin(), samples.end()});
  tail.cuts = cuts_;
  tail.computed = static_cast<double>(maps) / trained;
  const std::uint64_t record =
      place_.limit_bytes / (static_cast<std::uint64_t>(maps) * sizeof(float));
  tail.most_elements = record > target_elements_ ? record - target_elements_ : 0;
  if (kept.empty()) return tail;
  tail.kept = std::move(kept);
  const std::int64_t before = distinct(kept_samples);
  kept_samples.insert(kept_samples.end(), samples.begin(), samples.end());
  tail.kept_computed = static_cast<double>(distinct(std::move(kept_samples)) - before) / trained;
  return tail;
}

const TailCut* IntervalMaps::cut_named(const std::string& value) const {
  if (value.empty()) return nullptr;
  if (const TailCut* cut = cut_at(cuts_, value)) return cut;
  throw Error(ErrorCode::kBadData,
              "elastic training: the model cannot be cut at \"" + value + "\"");
}

IntervalMaps::Filled IntervalMaps::fill(const TailCut* cut, BatchSource& source,
                                        std::span<const std::int64_t> samples, const Maker& maker) {
  if (maps_ && (!cut || maps_->cut() != cut->cut.value)) maps_.reset();
  if (!cut) return {};
  if (!maps_)
    maps_ = std::make_unique<CachedMaps>(
        place_.folder, cut->cut.value,
        CachedMaps::Shape{source.size(), cut->elements, target_elements_});
  const std::vector<std::int64_t> missing = maps_->missing(samples);
  if (missing.empty()) return {};
  MapMaker network(model_, *cut, maker.weights, maker.options, maker.kernels);
  return {network.make(source, missing, *maps_, maker.may_go_on), true};
}

std::uint64_t room_for_maps(const std::filesystem::path& folder, std::uint64_t limit_bytes) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  const std::uint64_t room = error ? 0 : space.available / 2;
  return limit_bytes > 0 ? std::min(limit_bytes, room) : room;
}

}  // namespace moil
