#include "daemon/night/train/head_training.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "engine/elastic/elastic_record.h"

namespace moil::night {
namespace {

Json to_json(const TrainState& state) {
  return {{"step", state.step},
          {"loss_sum", state.loss_sum},
          {"loss_count", state.loss_count},
          {"seconds", state.seconds},
          {"cpu_seconds", state.cpu_seconds},
          {"updates", state.updates}};
}

// Checkpoints of before weights' own steps were counted do not tell them.
bool tells_updates(const Json& text) { return text.at("state").contains("updates"); }

// If nothing is chosen, every weight with a state takes every step.
void count_updates(TrainState& state, std::span<const PersistentTensor> tensors) {
  for (const PersistentTensor& tensor : tensors) {
    if (tensor.kind == TensorKind::kOptimizerState)
      state.updates[tensor.name.substr(0, tensor.name.rfind('/'))] = state.step;
  }
}

TrainState train_state_from_json(const Json& json) {
  TrainState state;
  state.step = json.at("step");
  state.loss_sum = json.at("loss_sum");
  state.loss_count = json.at("loss_count");
  state.seconds = json.at("seconds");
  state.cpu_seconds = json.at("cpu_seconds");
  if (json.contains("updates")) json.at("updates").get_to(state.updates);
  return state;
}

class PlainTraining final : public HeadTraining {
 public:
  PlainTraining(Trainer& trainer, std::filesystem::path begun)
      : trainer_(trainer), begun_(std::move(begun)) {}

  std::optional<Json> begin(const ModelWeights& weights,
                            const std::filesystem::path& checkpoint) override {
    trainer_.network().allocate();
    NamedTensor weight;
    trainer_.network().load_each([&](const std::string& name) -> const NamedTensor& {
      weight = {};  // before the next one comes
      return weight = weights.read(name);
    });
    if (const auto saved = Checkpoint::load(checkpoint)) return restore(*saved);
    if (!begun_.empty()) begin_where(begun_);
    return std::nullopt;
  }

  bool run(BatchSource& source, const Trainer::Callbacks& callbacks) override {
    return trainer_.run(source, callbacks);
  }

  void save_checkpoint(const std::filesystem::path& checkpoint, Json beside) override {
    trainer_.check_weights();
    const Json text = {{"beside", std::move(beside)}, {"state", to_json(trainer_.state())}};
    moil::save_checkpoint(checkpoint, text.dump(), trainer_.network().persistent());
  }

  const TrainState& state() const override { return trainer_.state(); }
  NamedTensor weight(const std::string& name) const override {
    return trainer_.network().weight(name);
  }
  void end() override { trainer_.network().discard_transient(); }
  void release() override { trainer_.network().release(); }
  double seconds() const override { return state().seconds; }
  std::size_t planned_bytes() const override { return trainer_.planned_bytes(); }
  Json choices() const override { return nullptr; }

 private:
  Json restore(const Checkpoint& saved) {
    Json text = parsed_json(saved.text());
    saved.restore(trainer_.network().persistent());
    trainer_.network().weights_changed();
    TrainState& state = trainer_.state();
    state = train_state_from_json(text.at("state"));
    if (!tells_updates(text)) count_updates(state, trainer_.network().persistent());
    return text.at("beside");
  }

  // Steps are counted anew, but for those that optimizers count.
  void begin_where(const std::filesystem::path& other) {
    const auto saved = Checkpoint::load(other);
    if (!saved) throw Error(ErrorCode::kBadData, other.string() + " is not there");
    (void)restore(*saved);
    TrainState begun;
    begun.updates = std::move(trainer_.state().updates);
    trainer_.state() = std::move(begun);
  }

  Trainer& trainer_;
  const std::filesystem::path begun_;
};

std::vector<std::string> tensors_of(const TimingProfile& profile) {
  std::vector<std::string> names;
  for (const LayerTiming& layer : profile.layers) {
    for (const WeightTiming& weight : layer.weights) names.push_back(weight.name);
  }
  return names;
}

class ElasticTraining final : public HeadTraining {
 public:
  ElasticTraining(ElasticPlan plan, KernelSelector& kernels)
      : plan_(std::move(plan)), kernels_(kernels) {}

  std::optional<Json> begin(const ModelWeights& weights,
                            const std::filesystem::path& checkpoint) override {
    const auto saved = Checkpoint::load(checkpoint);
    const Json text = saved ? parsed_json(saved->text()) : Json();
    // An earlier release recorded other inputs, by which this one cannot go on.
    if (!text.contains("profile")) {
      start(weights, plan_.profile);
      return std::nullopt;
    }
    std::vector<ElasticInterval> intervals;
    for (const Json& interval : text.at("intervals")) intervals.push_back(interval_of(interval));
    start(weights, profile_of(text.at("profile")));
    trainer_->resume(std::move(intervals), train_state_from_json(text.at("state")));
    saved->restore(trainer_->relay().persistent());
    trainer_->relay().weights_changed();
    return text.at("beside");
  }

  bool run(BatchSource& source, const Trainer::Callbacks& callbacks) override {
    return trainer_->run(source, callbacks);
  }

  void save_checkpoint(const std::filesystem::path& checkpoint, Json beside) override {
    trainer_->relay().check_weights();
    Json intervals = Json::array();
    for (const auto& interval : trainer_->intervals()) intervals.push_back(record_of(interval));
    const Json text = {{"beside", std::move(beside)},
                       {"state", to_json(state())},
                       {"profile", record_of(trainer_->profile())},
                       {"intervals", std::move(intervals)}};
    moil::save_checkpoint(checkpoint, text.dump(), trainer_->relay().persistent());
  }

  const TrainState& state() const override { return trainer_->state(); }
  NamedTensor weight(const std::string& name) const override {
    return trainer_->relay().weight(name);
  }
  void end() override { trainer_->relay().end(); }
  void release() override { trainer_->relay().release(); }

  double seconds() const override {
    double sum = state().seconds;
    for (const auto& interval : trainer_->intervals())
      sum += interval.choosing_seconds + interval.caching_seconds;
    return sum;
  }

  std::size_t planned_bytes() const override {
    std::size_t most = 0;
    for (const auto& interval : trainer_->intervals())
      most = std::max(most, interval.planned_bytes);
    return most;
  }

  Json choices() const override {
    const TimingProfile& profile = trainer_->profile().profile;
    const std::vector<std::string> tensors = tensors_of(profile);
    Json intervals = Json::array();
    for (const ElasticInterval& interval : trainer_->intervals())
      intervals.push_back(described(interval, tensors));
    return {{"rho", plan_.elastic.speedup_ratio},
            {"interval_epochs", plan_.elastic.interval_epochs},
            {"forward_share", profile.forward / profile.step},
            {"smallest_rho", smallest_speedup_ratio(profile)},
            {"full_step_seconds", profile.step},
            {"steps", state().step},
            {"used_of_rho", used_of_rho()},
            {"full_planned_bytes", plan_.full_planned_bytes},
            {"tensors", tensors},
            {"intervals", std::move(intervals)},
            {"profiles",
             {{{"epoch", 0},
               {"step_seconds", profile.step},
               {"forward_seconds", profile.forward},
               {"seconds", trainer_->profile().seconds},
               {"why", trainer_->profile().why}}}},
            {"remark", remark()}};
  }

 private:
  void start(const ModelWeights& weights, const ProfileInForce& profile) {
    trainer_ = std::make_unique<ElasticTrainer>(plan_.head, plan_.trainable_layers, plan_.config,
                                                plan_.elastic, profile, plan_.probe, kernels_);
    WeightMap own = weights.of(plan_.head);
    trainer_->start(own);
  }

  // To be looked at, not computed with: four digits are a third of the bytes.
  static double short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3e", value);
    return std::strtod(text, nullptr);
  }

  static Json described(const ElasticInterval& interval, const std::vector<std::string>& tensors) {
    Json selected = Json::array(), importance = Json::array();
    for (const std::string& tensor : tensors) {
      if (interval.selection.contains(tensor)) selected.push_back(tensor);
      importance.push_back(short_number(interval.importance.at(tensor)));
    }
    return {{"epoch", interval.epoch},
            {"epochs", interval.epochs},
            {"selected", std::move(selected)},
            {"importance", std::move(importance)},
            {"predicted_step_seconds", interval.step_seconds},
            {"measured_step_seconds", interval.measured.step},
            {"planned_bytes", interval.planned_bytes},
            {"probe_seconds", interval.probe_seconds},
            {"selector_seconds", interval.selector_seconds},
            {"choosing_seconds", interval.choosing_seconds},
            {"caching_seconds", interval.caching_seconds},
            {"begins_behind", interval.cut}};
  }

  // What the intervals took of the time that rho allows.
  double used_of_rho() const {
    const std::vector<ElasticInterval>& intervals = trainer_->intervals();
    if (intervals.empty()) return 0;
    const auto trained = static_cast<double>(end_epoch(intervals));
    return used_epochs(intervals) / (plan_.elastic.speedup_ratio * trained);
  }

  // Why the time that there was is not used up.
  Json remark() const {
    const double used = used_of_rho();
    if (used >= 0.9 || trainer_->intervals().empty()) return nullptr;
    char text[200];
    std::snprintf(text, sizeof text,
                  "steps take %.0f %% of what rho allows: nothing that is not selected could be "
                  "trained in the time that is left",
                  100 * used);
    return text;
  }

  const ElasticPlan plan_;
  KernelSelector& kernels_;
  std::unique_ptr<ElasticTrainer> trainer_;
};

}  // namespace

std::unique_ptr<HeadTraining> plain_training(Trainer& trainer, const std::filesystem::path& begun) {
  return std::make_unique<PlainTraining>(trainer, begun);
}

std::unique_ptr<HeadTraining> elastic_training(ElasticPlan plan, KernelSelector& kernels) {
  return std::make_unique<ElasticTraining>(std::move(plan), kernels);
}

}  // namespace moil::night
