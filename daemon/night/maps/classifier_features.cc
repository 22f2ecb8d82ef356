#include "daemon/night/maps/classifier_features.h"

#include <algorithm>

#include "daemon/night/maps/head_network.h"
#include "engine/layers/traits.h"
#include "engine/model/realizers/realizers.h"
#include "engine/train/batch.h"

namespace moil::night {
namespace {

void add_row(const float* maps, const ClassifierInput& input, std::vector<float>& rows) {
  const auto width = static_cast<std::size_t>(input.width);
  const std::size_t at = rows.size();
  rows.insert(rows.end(), maps, maps + width);
  for (std::int64_t p = 1; p < input.positions; ++p)
    for (std::size_t j = 0; j < width; ++j)
      rows[at + j] += maps[static_cast<std::size_t>(p) * width + j];
  for (std::size_t j = 0; j < width && input.positions > 1; ++j)
    rows[at + j] /= static_cast<float>(input.positions);
}

}  // namespace

ModelDescription front_of(const ModelDescription& head, const ClassifierInput& input) {
  ModelDescription front = realize_slice(head, input.value, input.dims).backbone;
  const auto vanishes = [](const LayerDescription& layer) {
    return layer_traits(layer.type).vanishes_in_inference;
  };
  if (std::ranges::all_of(front.layers, vanishes)) front.layers.clear();
  return front;
}

ClassifierFeatures::ClassifierFeatures(const ModelDescription& front, ClassifierInput input,
                                       FeatureReader& reader, KernelSelector& kernels,
                                       const WeightsOfPart& weights)
    : input_(std::move(input)), reader_(reader), maps_(kViewsAtOnce * reader.elements()) {
  if (front.layers.empty()) return;
  network_ = std::make_unique<HeadNetwork>(front, kernels);
  network_->allocate(weights);
}

ClassifierFeatures::~ClassifierFeatures() = default;

void ClassifierFeatures::add(std::span<const SampleView> views, std::vector<float>& rows,
                             UnreadableSamples* unreadable) {
  reader_.read(views, maps_.data(), unreadable);
  const float* read = maps_.data();
  if (network_) {
    Network& network = network_->network();
    scatter(maps_.data(), views.size(), NetworkBatch(network).inputs());
    network.forward();
    read = network.output(0);
  }
  const auto elements = static_cast<std::size_t>(input_.width * input_.positions);
  for (std::size_t i = 0; i < views.size(); ++i) add_row(read + i * elements, input_, rows);
}

}  // namespace moil::night
