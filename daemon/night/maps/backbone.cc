#include "daemon/night/maps/backbone.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "engine/io/fingerprint.h"
#include "engine/kernels/parallel.h"
#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "engine/train/batch.h"

namespace moil::night {
namespace {

// Fewer values than this may be the same by chance, whoever computes them.
constexpr std::size_t kTellingValues = 64;

// About as what a kind makes is, with every bit of a float in use; rows of a table are the first
// two.
std::vector<float> fixed_inputs(std::size_t samples, std::span<const BatchTensor> inputs) {
  std::vector<float> values;
  std::uint64_t state = 1;
  for (std::size_t s = 0; s < samples; ++s) {
    for (const BatchTensor& input : inputs) {
      for (std::size_t i = 0; i < input.elements; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const double value = static_cast<double>(state >> 11) * 0x1p-53 * 4 - 2;
        const bool is_row = input.type == ElementType::kInt32;
        values.push_back(is_row ? static_cast<float>(value < 0) : static_cast<float>(value));
      }
    }
  }
  return values;
}

// Each processor's device, and the layers whose F it computes.
std::string described(const std::vector<std::shared_ptr<Processor>>& processors,
                      const Assignment& assignment) {
  std::string text;
  for (std::size_t p = 0; p < processors.size(); ++p) {
    text += processors[p]->device() + "\n";
    for (const auto& [layer, steps] : assignment)
      if (steps[static_cast<std::size_t>(StepKind::kForward)] == p + 1) text += layer + "\n";
  }
  return text;
}

bool is_telling(const std::vector<float>& maps) {
  return std::set<float>(maps.begin(), maps.end()).size() >= kTellingValues;
}

}  // namespace

Backbone::Backbone(const ModelDescription& model, WeightsOfPart weights, const Freeze& freeze,
                   std::int64_t batch, KernelSelector& kernels)
    : batch_(batch), weights_(std::move(weights)), kernels_(kernels) {
  if (freeze.split.empty()) {
    const Graph graph = build_graph(model, 1);
    for (const int v : graph.inputs)
      input_elements_ +=
          static_cast<std::size_t>(graph.values[static_cast<std::size_t>(v)].info.dims.elements());
    feature_elements_ = input_elements_;
    return;
  }
  backbone_ = realize_slice(model, freeze.split, freeze.split_dims).backbone;
  network_fingerprint_ =
      model_fingerprint(backbone_) + " " + weights_fingerprint(weights_(backbone_));
  place({}, {});
  for (std::size_t i = 0; i < network_->inputs(); ++i)
    input_elements_ += static_cast<std::size_t>(network_->input_info(i).dims.elements_per_sample());
  feature_elements_ = static_cast<std::size_t>(network_->output_info(0).dims.elements_per_sample());
}

ModelDescription Backbone::inference_model() const { return prepare_inference(backbone_); }

void Backbone::place(const std::vector<std::shared_ptr<Processor>>& processors,
                     const Assignment& assignment) {
  elsewhere_ = described(processors, assignment);
  NetworkOptions options{.batch = batch_, .plan = {}};
  options.plan.processors = processors;
  options.plan.assignment = assignment;
  network_ = std::make_unique<Network>(inference_model(), options, kernels_);
}

std::string Backbone::fingerprint() {
  return is_identity() ? "" : network_fingerprint_ + "\n" + answer();
}

std::string Backbone::arithmetic() const {
  std::string text = network_fingerprint_ + "\n";
  for (const auto& [what, who] : kernels_.used_choices()) text += what + "=" + who + "\n";
  return text + elsewhere_ + std::to_string(thread_count()) + " threads";
}

const std::string& Backbone::answer() {
  if (!answer_.empty()) return answer_;
  allocate();
  const auto batch = static_cast<std::size_t>(batch_);
  const std::vector<float> inputs = fixed_inputs(batch, NetworkBatch(*network_).inputs());
  NamedTensor maps{{}, std::vector<float>(batch * feature_elements_)};
  run(inputs.data(), batch_, maps.data.data());
  const bool telling = is_telling(maps.data);
  answer_ = weights_fingerprint({{"answer", std::move(maps)}});
  if (!telling) answer_ += "\n" + arithmetic();
  return answer_;
}

std::vector<std::int64_t> Backbone::feature_shape() const {
  if (is_identity()) return {static_cast<std::int64_t>(feature_elements_)};
  const TensorInfo& info = network_->output_info(0);
  const Dims& d = info.dims;
  if (info.layout == Layout::kChannelsLast) return {d[2], d[3], d[1]};
  return {d.values().begin() + 1, d.values().end()};
}

std::size_t Backbone::peak_bytes() const { return network_ ? network_->peak_bytes() : 0; }

void Backbone::allocate() {
  if (!network_ || allocated_) return;
  WeightMap weights = weights_(backbone_);
  (void)prepare_inference(backbone_, weights);
  network_->allocate();
  network_->move_in(weights);
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
  const NetworkBatch batch(*network_);
  for (std::int64_t begin = 0; begin < count; begin += batch_) {
    const auto n = static_cast<std::size_t>(std::min(batch_, count - begin));
    const auto b = static_cast<std::size_t>(begin);
    scatter(inputs + b * input_elements_, n, batch.inputs());
    for (const BatchTensor& input : batch.inputs())
      std::fill(input.row(n), input.values.data() + input.values.size(), 0.0F);
    network_->forward();
    std::memcpy(features + b * feature_elements_, network_->output(0),
                n * feature_elements_ * sizeof(float));
  }
}

}  // namespace moil::night
