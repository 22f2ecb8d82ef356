#include "daemon/predict/listening.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "daemon/models/part_network.h"
#include "daemon/models/smoothed_answers.h"
#include "daemon/predict/timeline.h"
#include "datasets/labels/something_else.h"
#include "datasets/sounds/sound_input.h"

namespace moil::night {
namespace {

// By label, from which probability it is heard; nothing of labels of which the version knows none.
using Levels = std::vector<std::optional<double>>;

Levels levels_of(const ModelBundle& bundle, const ListeningWanted& wanted) {
  Levels levels(bundle.labels.size(), wanted.threshold);
  if (wanted.threshold) return levels;
  for (std::size_t label = 0; label < levels.size(); ++label)
    if (const auto at = bundle.listening.find(bundle.labels[label]); at != bundle.listening.end())
      levels[label] = level_for(at->second, wanted.false_accepts.value_or(kUsualFalseAccepts));
  const bool knows_one = std::ranges::any_of(levels, [](const auto& level) { return bool(level); });
  if (!knows_one && wanted.false_accepts)
    throw Error(ErrorCode::kFailedPrecondition,
                "how many false accepts an hour there are is not known of this version: a night "
                "finds it by sounds that are held out, half a minute without the label at least");
  return levels;
}

class Listener {
 public:
  Listener(ModelBundle bundle, const ListeningWanted& wanted,
           const std::function<void(const HeardNow&)>& tell)
      : levels_(levels_of(bundle, wanted)),
        model_(std::move(bundle)),
        has_threshold_(wanted.threshold.has_value()),
        places_(model_.kind().endless_places()),
        timeline_(places_, 0),
        answers_(model_.labels().size(), places_),
        tell_(tell) {
    for (const std::string& label : model_.labels())
      is_told_.push_back(label != data::kSomethingElse &&
                         (wanted.labels.empty() || std::ranges::count(wanted.labels, label) > 0));
    for (const std::string& label : wanted.labels) require(label);
  }

  Json hear(const ListeningWanted& wanted) {
    const data::SoundInput sound = data::sound_input(wanted.sound, wanted.raw_rate, wanted.name);
    model_.maker().stream(sound.bytes, wanted.name);
    model_.each_part({}, std::nullopt, [&](std::uint32_t part) { look_at(part); });
    if (const auto answer = answers_.joined(); !answer.empty()) decide(0, answer);
    const double seconds = end();
    if (seconds == 0) throw Error(ErrorCode::kBadData, wanted.name + ": it holds no sound");
    Json reply = {{"seconds", seconds}, {"events", events_}, {"levels", levels()}};
    std::string remark = model_.maker().remark();
    if (sound.is_raw && sound.source->size() % 2 == 1)
      remark += std::string(remark.empty() ? "" : "; ") +
                "it ends with half of a sample, which was left out";
    if (!remark.empty()) reply["remark"] = remark;
    return reply;
  }

 private:
  void require(const std::string& label) const {
    if (std::ranges::count(model_.labels(), label) > 0) return;
    throw Error(ErrorCode::kInvalidArgument,
                daemon::unknown_message("label", label, model_.labels()));
  }

  // As far as it is known; infinite before.
  double end() const {
    const auto parts = model_.maker().parts();
    return parts ? parts->places.end : std::numeric_limits<double>::infinity();
  }
  bool is_one_place() const {
    const auto parts = model_.maker().parts();
    return parts && parts->places.hop == 0;
  }

  void look_at(std::uint32_t part) {
    if (!model_.maker().has_signal()) return answers_.add_silence();
    const std::vector<float> answer = model_.answer_of(model_.output());
    if (is_one_place()) return answers_.join(answer);
    decide(part, answers_.add(answer));
  }

  void decide(std::uint32_t part, std::span<const float> answer) {
    for (const std::uint32_t label : timeline_.add(part, heard(answer), answer)) {
      if (!is_told_[label]) continue;
      ++events_;
      const double time = std::min(part * places_.hop + places_.length, end());
      tell_({std::round(1000 * time) / 1000, model_.labels()[label], answer[label]});
    }
  }

  std::vector<std::uint32_t> heard(std::span<const float> answer) const {
    std::vector<std::uint32_t> labels;
    if (!has_threshold_) labels = said(answer);
    for (std::uint32_t label = 0; label < answer.size(); ++label)
      if (levels_[label] && double{answer[label]} >= *levels_[label]) labels.push_back(label);
    return labels;
  }

  // What the model says and is sure of, of labels without a level.
  std::vector<std::uint32_t> said(std::span<const float> answer) const {
    if (!is_sure(answer)) return {};
    std::vector<float> output(answer.begin(), answer.end());
    model_.task().harden(output, model_.form());
    std::vector<std::uint32_t> said = model_.task().said(output, model_.form());
    std::erase_if(said, [&](std::uint32_t label) { return levels_[label].has_value(); });
    return said;
  }

  Json levels() const {
    Json found = Json::object();
    for (std::size_t label = 0; label < levels_.size() && !has_threshold_; ++label)
      if (levels_[label] && is_told_[label]) found[model_.labels()[label]] = *levels_[label];
    return found;
  }

  // A classifier says something of whatever it hears.
  bool is_sure(std::span<const float> answer) const {
    constexpr float kHalf = 0.5F;
    const auto known = model_.is_sure(answer);
    return known.value_or(model_.task().compares_samples() ||
                          *std::ranges::max_element(answer) >= kHalf);
  }

  const Levels levels_;
  PartNetwork model_;
  const bool has_threshold_;
  const data::PartPlaces places_;
  Timeline timeline_;
  SmoothedAnswers answers_;
  std::vector<bool> is_told_;  // by label
  const std::function<void(const HeardNow&)>& tell_;
  std::int64_t events_ = 0;
};

void require_sounds(const ModelBundle& bundle) {
  if (bundle.kind->streams() && bundle.task->outputs_are_labels()) return;
  throw Error(ErrorCode::kInvalidArgument,
              bundle.kind->streams()
                  ? "the model tells numbers; what is listened for is labels"
                  : "the model takes samples of the kind \"" + std::string(bundle.kind->name()) +
                        "\"; what listens is a model of sounds");
}

}  // namespace

Json listen(const std::filesystem::path& model_folder, const ListeningWanted& wanted,
            const std::function<void(const HeardNow&)>& tell) {
  ModelBundle bundle = read_model_folder(model_folder);
  require_sounds(bundle);
  bundle.kind = as_listened(*bundle.kind, wanted.every.value_or(0));
  return Listener(std::move(bundle), wanted, tell).hear(wanted);
}

}  // namespace moil::night
