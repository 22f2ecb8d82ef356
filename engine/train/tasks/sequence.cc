#include "engine/train/tasks/sequence.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json/json.h"
#include "engine/kernels/rows/softmax.h"
#include "engine/model/surgery.h"
#include "engine/train/metrics.h"
#include "engine/train/tasks/task_fields.h"

namespace moil {
namespace {

[[noreturn]] void fail_in_sequence(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "task \"sequence\": " + what);
}

class NextSymbols final : public Targets {
 public:
  NextSymbols(std::size_t symbols, std::size_t padding) : symbols_(symbols), padding_(padding) {}

  void write(std::span<const std::uint32_t>, std::span<const std::uint32_t>,
             std::span<float> target) const override {
    std::ranges::fill(target, 0.0F);
  }
  void write_shown(std::span<const float> shown, std::span<float> target) const override {
    std::ranges::fill(target, 0.0F);
    const std::size_t places = std::min(shown.size(), target.size() / symbols_);
    for (std::size_t i = 0; i + 1 < places; ++i) {
      const auto next = static_cast<std::size_t>(shown[i + 1]);
      if (next != padding_ && next < symbols_) target[i * symbols_ + next] = 1;
    }
  }

 private:
  const std::size_t symbols_, padding_;
};

class SequenceScorer final : public Scorer {
 public:
  SequenceScorer(std::size_t symbols, OutputForm form) : symbols_(symbols), form_(form) {}

  void add(std::span<const float> output, std::span<const float> target) override {
    row_.resize(symbols_);
    for (std::size_t at = 0; at + symbols_ <= target.size(); at += symbols_) {
      const auto wanted = target.subspan(at, symbols_), row = output.subspan(at, symbols_);
      const auto next = std::ranges::max_element(wanted) - wanted.begin();
      if (!(wanted[static_cast<std::size_t>(next)] > 0)) continue;
      bits_.add(-log2_of(row, static_cast<std::size_t>(next)));
      right_.add(std::ranges::max_element(row) - row.begin() == next ? 1 : 0);
    }
  }
  std::vector<Score> scores() const override {
    if (bits_.count() == 0) return {{"bits_per_symbol", {}}, {"perplexity", {}}, {"accuracy", {}}};
    return {{"bits_per_symbol", bits_.value()},
            {"perplexity", std::exp2(bits_.value())},
            {"accuracy", right_.value()}};
  }
  std::optional<double> quality() const override {
    return bits_.count() == 0 ? std::nullopt : std::optional(-bits_.value());
  }

 private:
  double log2_of(std::span<const float> row, std::size_t symbol) {
    constexpr double kLeast = 1e-30;  // a probability of 0 is a float's rounding
    if (form_.probabilities) return std::log2(std::max(double{row[symbol]}, kLeast));
    log_softmax(row.data(), row_.data(), static_cast<std::int64_t>(symbols_), 0, 1);
    return double{row_[symbol]} / std::log(2.0);
  }

  const std::size_t symbols_;
  const OutputForm form_;
  Mean bits_, right_;
  std::vector<float> row_;
};

class Sequence final : public Task {
 public:
  Sequence(std::int64_t symbols, std::int64_t padding) : symbols_(symbols), padding_(padding) {}

  std::string_view name() const override { return "sequence"; }
  nlohmann::json to_json() const override {
    nlohmann::json json = {{"task", "sequence"}, {"symbols", symbols_}};
    if (padding_ + 1 != symbols_) json["padding"] = padding_;
    return json;
  }

  LossDescription loss(const ModelDescription& model) const override {
    const ModelEnding ending = ending_of(model);
    if (ending.kind != Ending::kLogits && ending.kind != Ending::kSoftmax)
      fail_in_sequence("layer \"" + ending.layer +
                       "\" makes other probabilities than those of one symbol of several");
    const Dims dims = output_dims(model);
    if (dims.rank() != 3 || dims[2] != symbols_)
      fail_in_sequence("the model's output is " + dims.to_string() + " with batch 1; expected " +
                       std::to_string(symbols_) + " symbols at each place, [1, places, " +
                       std::to_string(symbols_) + "]");
    return {"softmax_cross_entropy"};
  }
  bool outputs_are_labels() const override { return false; }
  bool teaches_itself() const override { return true; }
  std::unique_ptr<Targets> targets(const std::vector<std::string>&, std::size_t,
                                   std::span<const std::uint32_t>) const override {
    return std::make_unique<NextSymbols>(static_cast<std::size_t>(symbols_),
                                         static_cast<std::size_t>(padding_));
  }
  void soften(std::span<float> output, OutputForm form) const override {
    if (!form.probabilities)
      softmax(output.data(), output.data(), symbols_, 0, std::ssize(output) / symbols_);
  }
  void harden(std::span<float> target, OutputForm form) const override {
    constexpr float kLeast = 1e-30F;
    if (form.probabilities) return;
    for (float& value : target) value = std::log(std::max(value, kLeast));
  }

  void answer(std::span<float> output, OutputForm form) const override { soften(output, form); }
  std::vector<std::uint32_t> said(std::span<const float>, OutputForm) const override { return {}; }

  Metric headline() const override {
    return {.name = "bits per symbol", .higher_is_better = false, .is_fraction = false};
  }
  bool compares_samples() const override { return false; }
  std::unique_ptr<Scorer> scorer(OutputForm form) const override {
    return std::make_unique<SequenceScorer>(static_cast<std::size_t>(symbols_), form);
  }

 private:
  const std::int64_t symbols_, padding_;
};

}  // namespace

TaskPtr sequence_task(std::int64_t symbols, std::optional<std::int64_t> padding) {
  if (symbols < 2) fail_in_sequence("there are two symbols or more, padding among them");
  const std::int64_t number = padding.value_or(symbols - 1);
  if (number < 0 || number >= symbols)
    fail_in_sequence("\"padding\" is " + std::to_string(number) + ", expected one of " +
                     std::to_string(symbols) + " symbols");
  return std::make_shared<Sequence>(symbols, number);
}

TaskPtr read_sequence(const nlohmann::json& json) {
  require_fields(json, {"task", "symbols", "padding"});
  const nlohmann::json symbols = json.value("symbols", nlohmann::json());
  if (!symbols.is_number_integer())
    fail_in_sequence("\"symbols\" is how many there are, padding included");
  const nlohmann::json padding = json.value("padding", nlohmann::json());
  if (padding.is_null()) return sequence_task(symbols.get<std::int64_t>());
  if (!padding.is_number_integer()) fail_in_sequence("\"padding\" is the number of a symbol");
  return sequence_task(symbols.get<std::int64_t>(), padding.get<std::int64_t>());
}

}  // namespace moil
