#include "daemon/predict/listening.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "daemon/models/part_answers.h"
#include "daemon/predict/part_network.h"
#include "daemon/predict/timeline.h"
#include "datasets/labels/something_else.h"
#include "datasets/sounds/sound_input.h"

namespace moil::night {
namespace {

class Listener {
 public:
  Listener(ModelBundle bundle, const ListeningWanted& wanted,
           const std::function<void(const HeardNow&)>& tell)
      : model_(std::move(bundle)),
        threshold_(wanted.threshold),
        places_(model_.kind().endless_places()),
        timeline_(places_, 0),
        short_answers_(model_.kind().part_answer(), model_.task(), model_.form()),
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
    if (short_answers_.parts() > 0) decide(0, short_answers_.take());
    const double seconds = end();
    if (seconds == 0) throw Error(ErrorCode::kBadData, wanted.name + ": it holds no sound");
    Json reply = {{"seconds", seconds}, {"events", events_}};
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
    if (!model_.maker().has_signal()) return;
    if (is_one_place()) return short_answers_.add(model_.output());
    decide(part, model_.output());
  }

  void decide(std::uint32_t part, std::span<const float> output) {
    const std::vector<float> answer = model_.answer_of(output);
    for (const std::uint32_t label : timeline_.add(part, heard(output, answer), answer)) {
      if (!is_told_[label]) continue;
      ++events_;
      const double time = std::min(part * places_.hop + places_.length, end());
      tell_({std::round(1000 * time) / 1000, model_.labels()[label], answer[label]});
    }
  }

  std::vector<std::uint32_t> heard(std::span<const float> output,
                                   std::span<const float> answer) const {
    if (!threshold_) {
      if (is_sure(answer)) return model_.task().said(output, model_.form());
      return {};
    }
    std::vector<std::uint32_t> labels;
    for (std::uint32_t label = 0; label < answer.size(); ++label)
      if (double{answer[label]} >= *threshold_) labels.push_back(label);
    return labels;
  }

  // A classifier says something of whatever it hears.
  bool is_sure(std::span<const float> answer) const {
    constexpr float kHalf = 0.5F;
    const auto known = model_.is_sure(answer);
    return known.value_or(model_.task().compares_samples() ||
                          *std::ranges::max_element(answer) >= kHalf);
  }

  PartNetwork model_;
  const std::optional<double> threshold_;
  const data::PartPlaces places_;
  Timeline timeline_;
  PartAnswers short_answers_;  // of a sound that is shorter than a part
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

double usual_hop(const data::Kind& kind) {
  constexpr double kUsual = 0.08, kOfPart = 12;
  return std::max(kUsual, kind.endless_places().length / kOfPart);
}

}  // namespace

Json listen(const std::filesystem::path& model_folder, const ListeningWanted& wanted,
            const std::function<void(const HeardNow&)>& tell) {
  ModelBundle bundle = read_model_folder(model_folder);
  require_sounds(bundle);
  bundle.kind = bundle.kind->with_hop(wanted.every.value_or(usual_hop(*bundle.kind)));
  return Listener(std::move(bundle), wanted, tell).hear(wanted);
}

}  // namespace moil::night
