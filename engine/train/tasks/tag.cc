#include "engine/train/tasks/tag.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json/json.h"
#include "engine/train/metrics.h"
#include "engine/train/tasks/task_fields.h"

namespace moil {
namespace {

float probability(float output, OutputForm form) {
  return form.probabilities ? output : 1 / (1 + std::exp(-output));
}

// The probability is kept apart from 0 and from 1.
float logit(float probability) {
  using Limits = std::numeric_limits<float>;
  const float p = std::clamp(probability, Limits::min(), 1 - Limits::epsilon() / 2);
  return std::log(p) - std::log1p(-p);
}

class TagTargets final : public Targets {
 public:
  TagTargets(std::size_t outputs, bool unnamed_is_unknown, std::span<const std::uint32_t> named)
      : lacking_(outputs, unnamed_is_unknown ? std::numeric_limits<float>::quiet_NaN() : 0) {
    for (const std::uint32_t label : named)
      if (label < outputs) lacking_[label] = 0;
  }

  void write(std::span<const std::uint32_t> labels, std::span<const std::uint32_t> denied,
             std::span<float> target) const override {
    std::ranges::copy(lacking_, target.begin());
    if (labels.empty() && !denied.empty())
      std::ranges::fill(target, std::numeric_limits<float>::quiet_NaN());
    for (const std::uint32_t label : denied)
      if (label < target.size()) target[label] = 0;
    for (const std::uint32_t label : labels)
      if (label < target.size()) target[label] = 1;
  }

 private:
  std::vector<float> lacking_;  // of a sample without labels
};

// Keeps what is known: of thousands of labels, a sample may tell of a few.
class TagScorer final : public Scorer {
 public:
  TagScorer(const TagThresholds& thresholds, OutputForm form)
      : thresholds_(thresholds), form_(form) {}

  void add(std::span<const float> output, std::span<const float> target) override {
    labels_.resize(output.size());
    for (std::size_t label = 0; label < output.size(); ++label)
      if (!std::isnan(target[label]))
        labels_[label].push_back({probability(output[label], form_), target[label] > 0.5F});
  }

  std::vector<Score> scores() const override {
    std::vector<Score> scores = {{"auc", {}}, {"mean_average_precision", {}}, {"f1", {}}};
    const TaggingQuality quality = tagging_quality(labels_);
    if (quality.labels > 0) {
      scores[0].value = quality.auc;
      scores[1].value = quality.mean_average_precision;
    }
    scores[2].value = f1();
    return scores;
  }

  // The mean log loss of what is known.
  std::optional<double> quality() const override {
    Mean log_likelihood;
    for (const auto& label : labels_)
      for (const LabelScore& known : label) log_likelihood.add(log_likelihood_of(known));
    if (log_likelihood.count() == 0) return std::nullopt;
    return log_likelihood.value();
  }

 private:
  static double log_likelihood_of(const LabelScore& known) {
    constexpr double kLeast = 1e-7;  // a probability of 0 is a matter of rounding
    const double p = std::clamp(double{known.score}, kLeast, 1 - kLeast);
    return known.is ? std::log(p) : std::log1p(-p);
  }

  // The mean over labels that some sample has.
  std::optional<double> f1() const {
    Mean mean;
    for (std::size_t label = 0; label < labels_.size(); ++label) {
      double right = 0, said = 0, are = 0;
      for (const LabelScore& known : labels_[label]) {
        const bool says = known.score >= threshold_of(thresholds_, label);
        right += known.is && says ? 1 : 0;
        said += says ? 1 : 0;
        are += known.is ? 1 : 0;
      }
      if (are > 0) mean.add(2 * right / (said + are));
    }
    if (mean.count() == 0) return std::nullopt;
    return mean.value();
  }

  const TagThresholds thresholds_;
  const OutputForm form_;
  std::vector<std::vector<LabelScore>> labels_;
};

class TagFitting final : public TaskFitting {
 public:
  TagFitting(TagDescription description, OutputForm form)
      : description_(std::move(description)), form_(form) {}

  void add(std::span<const float> output, std::span<const float> target) override {
    probabilities_.clear();
    for (const float x : output) probabilities_.push_back(probability(x, form_));
    choice_.add(probabilities_, target);
  }
  TaskPtr result() const override {
    TagDescription fitted = description_;
    fitted.thresholds = choice_.result(description_.thresholds);
    return tag_task(std::move(fitted));
  }

 private:
  const TagDescription description_;
  const OutputForm form_;
  std::vector<float> probabilities_;
  ThresholdChoice choice_;
};

class Tag final : public Task {
 public:
  explicit Tag(TagDescription description) : description_(std::move(description)) {}

  std::string_view name() const override { return "tag"; }
  nlohmann::json to_json() const override {
    nlohmann::json json = {{"task", "tag"}};
    if (!description_.unnamed_is_unknown) json["unnamed"] = "absent";
    const TagThresholds& own = description_.thresholds;
    for (std::size_t label = 0; !own.empty() && label <= own.rbegin()->first; ++label)
      json["thresholds"].push_back(threshold_of(own, label));
    return json;
  }

  LossDescription loss(const ModelDescription& model) const override {
    const Ending ending = ending_of(model).kind;
    if (ending == Ending::kSoftmax)
      throw Error(ErrorCode::kInvalidArgument,
                  "the model ends in a softmax, whose probabilities are one label's alone; task "
                  "\"tag\" takes logits or a sigmoid");
    check_ending(model);
    return {"sigmoid_cross_entropy", {{"reduction", std::string("sum")}}};
  }
  bool outputs_are_labels() const override { return true; }
  std::unique_ptr<Targets> targets(const std::vector<std::string>&, std::size_t outputs,
                                   std::span<const std::uint32_t> named) const override {
    return std::make_unique<TagTargets>(outputs, description_.unnamed_is_unknown, named);
  }
  void soften(std::span<float> output, OutputForm form) const override { answer(output, form); }
  void harden(std::span<float> target, OutputForm form) const override {
    if (form.probabilities) return;
    for (float& x : target) x = logit(x);
  }

  void answer(std::span<float> output, OutputForm form) const override {
    for (float& x : output) x = probability(x, form);
  }
  std::vector<std::uint32_t> said(std::span<const float> output, OutputForm form) const override {
    std::vector<std::uint32_t> labels;
    for (std::uint32_t label = 0; label < output.size(); ++label)
      if (probability(output[label], form) >= threshold_of(description_.thresholds, label))
        labels.push_back(label);
    return labels;
  }

  Metric headline() const override { return {"AUC"}; }
  bool compares_samples() const override { return true; }
  std::unique_ptr<Scorer> scorer(OutputForm form) const override {
    return std::make_unique<TagScorer>(description_.thresholds, form);
  }
  std::unique_ptr<TaskFitting> fitting(OutputForm form) const override {
    return std::make_unique<TagFitting>(description_, form);
  }

 private:
  const TagDescription description_;
};

[[noreturn]] void fail_in_tag(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "task \"tag\": " + what);
}

}  // namespace

TaskPtr tag_task(TagDescription description) {
  std::erase_if(description.thresholds,
                [](const auto& own) { return own.second == kUsualThreshold; });
  return std::make_shared<Tag>(std::move(description));
}

TaskPtr read_tag(const nlohmann::json& json) {
  require_fields(json, {"task", "unnamed", "thresholds"});
  TagDescription description;
  const nlohmann::json unnamed = json.value("unnamed", nlohmann::json("unknown"));
  if (unnamed != "absent" && unnamed != "unknown")
    fail_in_tag("\"unnamed\" is \"absent\" or \"unknown\", not " + unnamed.dump());
  description.unnamed_is_unknown = unnamed == "unknown";
  const nlohmann::json thresholds = json.value("thresholds", nlohmann::json::array());
  if (!thresholds.is_array()) fail_in_tag("\"thresholds\" is a list of numbers");
  for (std::uint32_t label = 0; label < thresholds.size(); ++label) {
    const nlohmann::json& threshold = thresholds[label];
    if (!threshold.is_number() || threshold < 0 || threshold > 1)
      fail_in_tag("a threshold is a number from 0 to 1, not " + threshold.dump());
    description.thresholds[label] = threshold;
  }
  return tag_task(std::move(description));
}

}  // namespace moil
