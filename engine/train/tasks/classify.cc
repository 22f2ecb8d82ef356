#include "engine/train/tasks/classify.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json/json.h"
#include "engine/kernels/rows/softmax.h"
#include "engine/train/metrics.h"
#include "engine/train/tasks/task_fields.h"

namespace moil {
namespace {

std::int64_t largest(std::span<const float> row) {
  return std::ranges::max_element(row) - row.begin();
}

// A sample of several classes is of each of them in part. If only denied ones are known, it may be
// any other: the loss leaves it to the model which (layers/losses/softmax_cross_entropy.cc).
class ClassTargets final : public Targets {
 public:
  void write(std::span<const std::uint32_t> labels, std::span<const std::uint32_t> denied,
             std::span<float> target) const override {
    if (labels.empty() && !denied.empty()) return leave_open(denied, target);
    std::ranges::fill(target, 0.0F);
    for (const std::uint32_t label : labels)
      if (label < target.size()) target[label] = 1 / static_cast<float>(labels.size());
  }

 private:
  // One of all has to be said: if all are denied, nothing is known.
  static void leave_open(std::span<const std::uint32_t> denied, std::span<float> target) {
    const auto out = static_cast<std::size_t>(
        std::ranges::count_if(denied, [&](auto label) { return label < target.size(); }));
    std::ranges::fill(target, std::numeric_limits<float>::quiet_NaN());
    for (const std::uint32_t label : denied)
      if (out < target.size() && label < target.size()) target[label] = 0;
  }
};

// A sample without a target, of a class that the model lacks, is never right.
class AccuracyScorer final : public Scorer {
 public:
  explicit AccuracyScorer(OutputForm form) : form_(form) {}

  // A sample that may be several classes counts for none of them.
  void add(std::span<const float> output, std::span<const float> target) override {
    if (std::ranges::any_of(target, [](float x) { return std::isnan(x); })) {
      (void)add_answer(output, target);
      return;
    }
    const float best = target[static_cast<std::size_t>(largest(target))];
    const bool is_right = add_answer(output, target);
    by_class_.resize(output.size());
    if (best > 0) by_class_[static_cast<std::size_t>(largest(target))].add(is_right ? 1 : 0);
    top_5_.add(best > 0 && in_top_k(output, largest(target), kTop) ? 1 : 0);
  }

  // Accuracy of some hundred samples is a matter of a few; how likely the model thought the right
  // labels is told by all of them (a proper score).
  std::optional<double> quality() const override { return log_probability_.value(); }

  std::vector<Score> scores() const override {
    if (top_1_.count() == 0)
      return {{"accuracy", std::nullopt}, {"balanced_accuracy", std::nullopt}};
    std::vector<Score> scores = {{"accuracy", top_1_.value()}, {"balanced_accuracy", balanced()}};
    if (classes_ > kTop && top_5_.count() > 0) scores.push_back({"top_5_accuracy", top_5_.value()});
    return scores;
  }

 private:
  static bool may_be(float target) { return target > 0 || std::isnan(target); }

  // Whether it is right.
  bool add_answer(std::span<const float> output, std::span<const float> target) {
    const float chosen = target[static_cast<std::size_t>(largest(output))];
    const bool is_right =
        std::isnan(chosen) ||
        (chosen > 0 && chosen >= target[static_cast<std::size_t>(largest(target))]);
    top_1_.add(is_right ? 1 : 0);
    classes_ = output.size();
    log_probability_.add(log_probability(output, target));
    return is_right;
  }

  // The mean of the classes' own: what few samples there are of one counts as much as all of
  // another.
  std::optional<double> balanced() const {
    Mean classes;
    for (const Mean& of_class : by_class_)
      if (of_class.count() > 0) classes.add(of_class.value());
    return classes.count() > 0 ? std::optional(classes.value()) : std::nullopt;
  }

  // The right label has no less than kLeast: one that was missed by far is missed.
  double log_probability(std::span<const float> output, std::span<const float> target) const {
    constexpr double kLeast = 1e-3;
    double sum = 0, right = 0;
    const double most = *std::ranges::max_element(output);
    for (std::size_t i = 0; i < output.size(); ++i) {
      const double p = form_.probabilities ? output[i] : std::exp(output[i] - most);
      sum += p;
      if (may_be(target[i])) right += p;
    }
    return std::log(std::max(kLeast, right / sum));
  }

  static constexpr int kTop = 5;
  const OutputForm form_;
  Mean top_1_, top_5_, log_probability_;
  std::vector<Mean> by_class_;
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
  std::unique_ptr<Targets> targets(const std::vector<std::string>&, std::size_t,
                                   std::span<const std::uint32_t>) const override {
    return std::make_unique<ClassTargets>();
  }
  void soften(std::span<float> output, OutputForm form) const override { answer(output, form); }
  void harden(std::span<float> target, OutputForm form) const override {
    if (form.probabilities) return;
    for (float& x : target) x = std::log(std::max(x, std::numeric_limits<float>::min()));
  }

  void answer(std::span<float> output, OutputForm form) const override {
    if (form.probabilities) return;
    softmax(output.data(), output.data(), static_cast<std::int64_t>(output.size()), 0, 1);
  }
  std::vector<std::uint32_t> said(std::span<const float> output, OutputForm) const override {
    return {static_cast<std::uint32_t>(largest(output))};
  }

  Metric headline() const override { return {"accuracy"}; }
  bool compares_samples() const override { return false; }
  std::unique_ptr<Scorer> scorer(OutputForm form) const override {
    return std::make_unique<AccuracyScorer>(form);
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
