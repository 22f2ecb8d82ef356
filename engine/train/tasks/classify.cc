#include "engine/train/tasks/classify.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/kernels/softmax.h"
#include "engine/train/metrics.h"
#include "engine/train/tasks/task_fields.h"

namespace moil {
namespace {

std::int64_t largest(std::span<const float> row) {
  return std::ranges::max_element(row) - row.begin();
}

// A sample of several classes is of each of them in part.
class ClassTargets final : public Targets {
 public:
  void write(std::span<const std::uint32_t> labels, std::span<float> target) const override {
    std::ranges::fill(target, 0.0F);
    for (const std::uint32_t label : labels)
      if (label < target.size()) target[label] = 1 / static_cast<float>(labels.size());
  }
};

// A sample without a target, of a class that the model lacks, is never right.
class AccuracyScorer final : public Scorer {
 public:
  void add(std::span<const float> output, std::span<const float> target) override {
    const float best = target[static_cast<std::size_t>(largest(target))];
    const float chosen = target[static_cast<std::size_t>(largest(output))];
    top_1_.add(chosen > 0 && chosen >= best ? 1 : 0);
    top_5_.add(best > 0 && in_top_k(output, largest(target), kTop) ? 1 : 0);
    classes_ = output.size();
  }

  std::vector<Score> scores() const override {
    if (top_1_.count() == 0) return {{"accuracy", std::nullopt}};
    std::vector<Score> scores = {{"accuracy", top_1_.value()}};
    if (classes_ > kTop) scores.push_back({"top_5_accuracy", top_5_.value()});
    return scores;
  }

 private:
  static constexpr int kTop = 5;
  Mean top_1_, top_5_;
  std::size_t classes_ = 0;
};

class Classify final : public Task {
 public:
  std::string_view name() const override { return "classify"; }
  nlohmann::json to_json() const override { return {{"task", "classify"}}; }

  LossDescription loss(const ModelDescription& model) const override {
    check_ending(model);
    return fitting_loss(model);
  }
  bool outputs_are_labels() const override { return true; }
  std::unique_ptr<Targets> targets(const std::vector<std::string>&, std::size_t) const override {
    return std::make_unique<ClassTargets>();
  }
  void soften(std::span<float> output, OutputForm form) const override { answer(output, form); }

  void answer(std::span<float> output, OutputForm form) const override {
    if (form.probabilities) return;
    softmax(output.data(), output.data(), static_cast<std::int64_t>(output.size()), 0, 1);
  }
  std::vector<std::uint32_t> said(std::span<const float> output, OutputForm) const override {
    return {static_cast<std::uint32_t>(largest(output))};
  }

  Metric headline() const override { return {"accuracy"}; }
  bool compares_samples() const override { return false; }
  std::unique_ptr<Scorer> scorer(OutputForm) const override {
    return std::make_unique<AccuracyScorer>();
  }
};

}  // namespace

TaskPtr classify_task() {
  static const TaskPtr task = std::make_shared<Classify>();
  return task;
}

TaskPtr read_classify(const nlohmann::json& json) {
  require_fields(json, {"task"});
  return classify_task();
}

}  // namespace moil
