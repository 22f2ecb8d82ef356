// What a model's classifier reads of samples: the night's feature maps, or what the frozen layers
// between them and the classifier make of these.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "daemon/models/model_weights.h"
#include "daemon/night/maps/feature_source.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/model/surgery.h"

namespace moil::night {

class HeadNetwork;

// A head from the split to what its classifier reads, without layers that do nothing at
// inference; no layers: the maps are what it reads.
[[nodiscard]] ModelDescription front_of(const ModelDescription& head, const ClassifierInput& input);

// One thread. `reader` and `kernels` outlive it.
class ClassifierFeatures {
 public:
  static constexpr std::size_t kViewsAtOnce = 16;

  ClassifierFeatures(const ModelDescription& front, ClassifierInput input, FeatureReader& reader,
                     KernelSelector& kernels, const WeightsOfPart& weights);
  ~ClassifierFeatures();

  // Appends a row of input.width for each view, the mean over positions; at most kViewsAtOnce.
  // unreadable: as FeatureReader::read() has it.
  void add(std::span<const SampleView> views, std::vector<float>& rows,
           UnreadableSamples* unreadable = nullptr);

 private:
  const ClassifierInput input_;
  FeatureReader& reader_;
  std::unique_ptr<HeadNetwork> network_;  // null: none is needed
  std::vector<float> maps_;
};

}  // namespace moil::night
