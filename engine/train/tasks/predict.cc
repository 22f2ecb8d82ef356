#include "engine/train/tasks/predict.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json/json.h"
#include "engine/train/metrics.h"
#include "engine/train/tasks/task_fields.h"

namespace moil {
namespace {

[[noreturn]] void fail_in_predict(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "task \"predict\": " + what);
}

double at(const std::vector<double>& values, std::size_t output, double usual) {
  return values.empty() ? usual : values[output];
}

class NumberTargets final : public Targets {
 public:
  NumberTargets(const PredictDescription& d, const std::vector<std::string>& labels,
                std::size_t outputs) {
    for (const std::string& label : labels) {
      std::vector<float>& row = rows_.emplace_back();
      const std::vector<double> numbers = numbers_of(label, outputs);
      for (std::size_t o = 0; o < outputs; ++o)
        row.push_back(static_cast<float>((numbers[o] - at(d.mean, o, 0)) / at(d.stddev, o, 1)));
    }
  }

  // Writes the mean of several numbers.
  void write(std::span<const std::uint32_t> labels, std::span<const std::uint32_t>,
             std::span<float> target) const override {
    std::ranges::fill(target, 0.0F);
    for (const std::uint32_t label : labels)
      for (std::size_t o = 0; o < target.size(); ++o)
        target[o] += rows_[label][o] / static_cast<float>(labels.size());
  }

 private:
  std::vector<std::vector<float>> rows_;
};

// Sums of one output, targets shifted by the first one so that large means lose no digits.
struct OutputSums {
  double first = 0, count = 0, sum = 0, squares = 0, squared_error = 0, absolute_error = 0;

  void add(double output, double target) {
    if (count == 0) first = target;
    const double shifted = target - first, error = output - target;
    count += 1;
    sum += shifted;
    squares += shifted * shifted;
    squared_error += error * error;
    absolute_error += std::abs(error);
  }
  double variance() const { return squares - sum * sum / count; }
};

class NumberScorer final : public Scorer {
 public:
  explicit NumberScorer(const PredictDescription& d) : description_(d) {}

  void add(std::span<const float> output, std::span<const float> target) override {
    sums_.resize(output.size());
    for (std::size_t o = 0; o < output.size(); ++o)
      if (!std::isnan(target[o])) sums_[o].add(output[o], target[o]);
  }

  std::vector<Score> scores() const override {
    Mean r2, mae, rmse;
    for (std::size_t o = 0; o < sums_.size(); ++o) {
      const OutputSums& s = sums_[o];
      if (s.count == 0) continue;
      mae.add(at(description_.stddev, o, 1) * s.absolute_error / s.count);
      rmse.add(at(description_.stddev, o, 1) * std::sqrt(s.squared_error / s.count));
      // Numbers that are all the same have no variance to explain.
      if (const double variance = s.variance(); variance > 1e-12 * s.count)
        r2.add(1 - s.squared_error / variance);
    }
    std::vector<Score> scores = {
        {"r2", {}}, {"mean_absolute_error", {}}, {"root_mean_squared_error", {}}};
    if (r2.count() > 0) scores[0].value = r2.value();
    if (mae.count() > 0) scores[1].value = mae.value();
    if (rmse.count() > 0) scores[2].value = rmse.value();
    return scores;
  }

  // The mean squared error, in deviations.
  std::optional<double> quality() const override {
    Mean squared_error;
    for (const OutputSums& s : sums_)
      if (s.count > 0) squared_error.add(s.squared_error / s.count);
    if (squared_error.count() == 0) return std::nullopt;
    return -squared_error.value();
  }

 private:
  const PredictDescription description_;
  std::vector<OutputSums> sums_;
};

class Predict final : public Task {
 public:
  explicit Predict(PredictDescription description) : description_(std::move(description)) {}

  std::string_view name() const override { return "predict"; }
  nlohmann::json to_json() const override {
    nlohmann::json json = {{"task", "predict"}};
    if (!description_.mean.empty()) json["mean"] = description_.mean;
    if (!description_.stddev.empty()) json["stddev"] = description_.stddev;
    if (description_.huber_delta > 0) json["huber_delta"] = description_.huber_delta;
    return json;
  }

  LossDescription loss(const ModelDescription& model) const override {
    if (const Ending ending = ending_of(model).kind; ending != Ending::kLogits)
      throw Error(ErrorCode::kInvalidArgument,
                  "the model's output is made of probabilities by layer \"" +
                      ending_of(model).layer + "\"; task \"predict\" takes numbers as they are");
    if (description_.huber_delta > 0) return {"huber", {{"delta", description_.huber_delta}}};
    return {"mse"};
  }
  bool outputs_are_labels() const override { return false; }
  std::unique_ptr<Targets> targets(const std::vector<std::string>& labels, std::size_t outputs,
                                   std::span<const std::uint32_t>) const override {
    for (const auto* values : {&description_.mean, &description_.stddev})
      if (!values->empty() && values->size() != outputs)
        fail_in_predict("it has means or deviations of " + std::to_string(values->size()) +
                        " outputs; the model has " + std::to_string(outputs));
    return std::make_unique<NumberTargets>(description_, labels, outputs);
  }
  void soften(std::span<float>, OutputForm) const override {}
  void harden(std::span<float>, OutputForm) const override {}

  void answer(std::span<float> output, OutputForm) const override {
    for (std::size_t o = 0; o < output.size(); ++o)
      output[o] = static_cast<float>(at(description_.mean, o, 0) +
                                     at(description_.stddev, o, 1) * double{output[o]});
  }
  std::vector<std::uint32_t> said(std::span<const float>, OutputForm) const override { return {}; }

  Metric headline() const override { return {.name = "R2", .is_fraction = false}; }
  bool compares_samples() const override { return false; }
  std::unique_ptr<Scorer> scorer(OutputForm) const override {
    return std::make_unique<NumberScorer>(description_);
  }

 private:
  const PredictDescription description_;
};

std::vector<double> list_of(const nlohmann::json& json, const char* field) {
  const nlohmann::json list = json.value(field, nlohmann::json::array());
  if (!list.is_array()) fail_in_predict("\"" + std::string(field) + "\" is a list of numbers");
  for (const nlohmann::json& item : list)
    if (!item.is_number() || !std::isfinite(item.get<double>()))
      fail_in_predict("\"" + std::string(field) + "\" has " + item.dump() + ", which is no number");
  return list.get<std::vector<double>>();
}

}  // namespace

TaskPtr predict_task(PredictDescription d) {
  if (!d.mean.empty() && !d.stddev.empty() && d.mean.size() != d.stddev.size())
    fail_in_predict("there are " + std::to_string(d.mean.size()) + " means and " +
                    std::to_string(d.stddev.size()) + " deviations");
  for (const double deviation : d.stddev)
    if (!(deviation > 0)) fail_in_predict("a deviation is above 0");
  if (!(d.huber_delta >= 0)) fail_in_predict("\"huber_delta\" is above 0");
  return std::make_shared<Predict>(std::move(d));
}

TaskPtr read_predict(const nlohmann::json& json) {
  require_fields(json, {"task", "mean", "stddev", "huber_delta"});
  PredictDescription description{list_of(json, "mean"), list_of(json, "stddev")};
  const nlohmann::json delta = json.value("huber_delta", nlohmann::json(0));
  if (!delta.is_number()) fail_in_predict("\"huber_delta\" is a number");
  description.huber_delta = delta;
  return predict_task(std::move(description));
}

std::vector<double> numbers_of(const std::string& label, std::size_t count) {
  std::vector<double> numbers;
  const char *next = label.data(), *end = next + label.size();
  while (true) {
    while (next != end && (*next == ' ' || *next == '\t')) ++next;
    if (next == end) break;
    double number = 0;
    const auto [stop, error] = std::from_chars(next, end, number);
    if (error != std::errc() || !std::isfinite(number) ||
        (stop != end && *stop != ' ' && *stop != '\t'))
      break;
    numbers.push_back(number);
    next = stop;
  }
  if (next == end && numbers.size() == count) return numbers;
  throw Error(ErrorCode::kInvalidArgument,
              "the label \"" + label + "\" is not " +
                  (count == 1 ? std::string("a number") : std::to_string(count) + " numbers") +
                  ", which the model predicts");
}

}  // namespace moil
