#include "daemon/night/backbone.h"

#include <algorithm>
#include <cstring>

#include "daemon/night/model_folder.h"
#include "engine/graph/preparation.h"
#include "engine/graph/realizers/realizers.h"
#include "engine/io/fingerprint.h"

namespace moil::night {
namespace {

// What the arithmetic was chosen to be for this network, one line a choice.
std::string choices_text(const KernelSelector& kernels) {
  std::string text;
  for (const auto& [what, who] : kernels.used_choices()) text += what + "=" + who + "\n";
  return text;
}

}  // namespace

Backbone::Backbone(const ModelDescription& model, const WeightMap& weights, const Freeze& freeze,
                   std::int64_t batch, KernelSelector& kernels)
    : batch_(batch), kernels_(kernels) {
  if (freeze.split.empty()) {
    input_elements_ =
        static_cast<std::size_t>(build_graph(model, 1).values[0].info.dims.elements());
    feature_elements_ = input_elements_;
    return;
  }
  const ModelDescription backbone = realize_slice(model, freeze.split, freeze.split_dims).backbone;
  weights_ = weights_of(backbone, weights);
  prepared_ = prepare_inference(backbone, weights_);
  network_ =
      std::make_unique<Network>(prepared_, NetworkOptions{.batch = batch, .plan = {}}, kernels_);
  input_elements_ = static_cast<std::size_t>(network_->input_info(0).dims.elements_per_sample());
  feature_elements_ = static_cast<std::size_t>(network_->output_info(0).dims.elements_per_sample());
  fingerprint_ = model_fingerprint(prepared_) + " " + weights_fingerprint(weights_) + "\n" +
                 choices_text(kernels_);
}

std::vector<std::int64_t> Backbone::feature_shape() const {
  if (is_identity()) return {static_cast<std::int64_t>(feature_elements_)};
  const TensorInfo& info = network_->output_info(0);
  const Dims& d = info.dims;
  if (info.layout == Layout::kChannelsLast) return {d[2], d[3], d[1]};
  return {d.values().begin() + 1, d.values().end()};
}

std::size_t Backbone::planned_bytes() const {
  return network_ ? network_->plan().memory.total_bytes : 0;
}

void Backbone::allocate() {
  if (!network_ || allocated_) return;
  network_->allocate();
  network_->load(weights_);
  allocated_ = true;
}

void Backbone::release() {
  if (!network_ || !allocated_) return;
  network_->release();
  allocated_ = false;
}

void Backbone::run(const float* inputs, std::int64_t count, float* features) {
  if (is_identity()) {
    std::memcpy(features, inputs,
                static_cast<std::size_t>(count) * input_elements_ * sizeof(float));
    return;
  }
  for (std::int64_t begin = 0; begin < count; begin += batch_) {
    const auto n = static_cast<std::size_t>(std::min(batch_, count - begin));
    const auto b = static_cast<std::size_t>(begin);
    const auto room = static_cast<std::size_t>(batch_) * input_elements_;
    std::memcpy(network_->input(0), inputs + b * input_elements_,
                n * input_elements_ * sizeof(float));
    std::fill(network_->input(0) + n * input_elements_, network_->input(0) + room, 0.0F);
    network_->forward();
    std::memcpy(features + b * feature_elements_, network_->output(0),
                n * feature_elements_ * sizeof(float));
  }
}

}  // namespace moil::night
