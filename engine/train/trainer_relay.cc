#include "engine/train/trainer_relay.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace moil {

TrainerRelay::TrainerRelay(ModelDescription model, std::set<std::string> trainable_layers,
                           const TrainerConfig& config, KernelSelector& kernels)
    : model_(std::move(model)),
      layers_(std::move(trainable_layers)),
      config_(config),
      kernels_(kernels) {}

void TrainerRelay::start(WeightMap& weights) { weights_ = take_weights_of(model_, weights); }

std::unique_ptr<Trainer> TrainerRelay::planned(const std::set<std::string>& selection,
                                               const ModelDescription* part) const {
  TrainerConfig config = config_;
  config.selection = selection;
  return std::make_unique<Trainer>(part ? *part : model_, &layers_, config, kernels_);
}

void TrainerRelay::put_aside() {
  if (!trainer_) return;
  trainer_->network().move_out(weights_, waiting_);
  state_ = trainer_->state();
  trainer_.reset();
}

void TrainerRelay::begin(std::unique_ptr<Trainer> trainer) {
  trainer_ = std::move(trainer);
  trainer_->network().allocate();
  trainer_->network().move_in(weights_);
  for (const PersistentTensor& tensor : trainer_->network().persistent()) {
    const auto state = waiting_.find(tensor.name);
    if (state == waiting_.end()) continue;
    std::copy(state->second.begin(), state->second.end(), tensor.data().values.begin());
    waiting_.erase(state);
  }
  trainer_->state() = state_;
}

// States are named after their weights.
std::size_t TrainerRelay::waiting_bytes(const std::set<std::string>& selection) const {
  std::size_t bytes = 0;
  for (const auto& [name, values] : waiting_) {
    if (!selection.contains(name.substr(0, name.rfind('/'))))
      bytes += values.size() * sizeof(float);
  }
  return bytes;
}

std::size_t TrainerRelay::full_planned_bytes() {
  if (full_planned_bytes_ == 0) full_planned_bytes_ = planned({})->planned_bytes();
  return full_planned_bytes_;
}

std::size_t TrainerRelay::bytes_beside_all(std::size_t weight_bytes) {
  const std::size_t waiting = (1 + states_of_weight(config_.optimizer)) * weight_bytes;
  return std::max(full_planned_bytes(), waiting) - waiting;
}

std::vector<PersistentTensor> TrainerRelay::persistent() {
  if (!trainer_) return {};
  std::vector<PersistentTensor> tensors = trainer_->network().persistent();
  for (auto& [name, values] : waiting_)
    tensors.emplace_back(name, TensorKind::kOptimizerState, values);
  for (auto& [name, tensor] : weights_)
    tensors.emplace_back(name, TensorKind::kWeight, tensor.data);
  return tensors;
}

void TrainerRelay::check_weights() {
  if (trainer_) trainer_->check_weights();
}

void TrainerRelay::weights_changed() {
  if (trainer_) trainer_->network().weights_changed();
}

NamedTensor TrainerRelay::weight(const std::string& name) const {
  if (const auto it = weights_.find(name); it != weights_.end()) return it->second;
  if (!trainer_) throw Error(ErrorCode::kNotFound, "no weight \"" + name + "\" is being trained");
  return trainer_->network().weight(name);
}

void TrainerRelay::save(WeightMap& weights) const {
  for (const auto& [name, tensor] : weights_) weights[name] = tensor;
  if (trainer_) trainer_->network().save(weights);
}

void TrainerRelay::end() {
  waiting_.clear();
  if (trainer_) trainer_->network().discard_transient();
}

void TrainerRelay::release() {
  state_ = state();
  trainer_.reset();
  weights_.clear();
}

}  // namespace moil
