#include "daemon/night/stages/trial.h"

#include <algorithm>

#include "base/seconds.h"
#include "daemon/night/data/field_error.h"
#include "daemon/night/stages/night_run.h"
#include "daemon/night/stages/trial_scores.h"

namespace moil::night {
namespace {

// What is left of a piece of work takes as long as what is done since it began to get on. Seen once
// that has taken so long, and a part of the time that is left: a device that was busy for a moment
// is not slow.
constexpr double kSecondsToSee = 2, kPartToSee = 0.05;

class Pace {
 public:
  bool is_in_time(daemon::Stage stage, std::int64_t done, std::int64_t all, double seconds_left) {
    if (stage != stage_ || all != all_) {
      stage_ = stage;
      all_ = all;
      first_ = done;
      began_ = std::chrono::steady_clock::now();
    }
    const double passed = seconds_since(began_);
    if (done <= first_ || passed < std::max(kSecondsToSee, kPartToSee * seconds_left))
      return seconds_left > 0;
    return passed * static_cast<double>(all - done) / static_cast<double>(done - first_) <
           seconds_left;
  }

 private:
  std::optional<daemon::Stage> stage_;
  std::int64_t all_ = 0, first_ = 0;
  std::chrono::steady_clock::time_point began_;
};

// Trials train as it is, whatever a night does about its time and its record.
daemon::JobSpec for_trials(daemon::JobSpec spec) {
  spec.elastic.reset();
  spec.deadline_seconds.reset();
  spec.evaluate_every_epoch = true;  // it is judged while its training is there
  return spec;
}

void train_and_judge(const TrialGround& ground, NightContext& trial, TrialResult& result,
                     UnreadableSamples& unreadable, std::optional<Quality>* before) {
  NightRun run(trial, ground.maps);
  unreadable = run.prepare();
  if (!unreadable.empty()) return;
  const NightModel& model = run.plan().model();
  ground.forecast(run.plan().forecast().total());
  FeatureReader& reader = run.cache().reader();
  if (before != nullptr)
    *before = score_trial(trial, model, reader, model.base_head, weights_of(trial.base)).global;
  if (!model.trainer) throw Error(ErrorCode::kFailedPrecondition, "nothing of it trains");
  run.train();
  const TrialScores scores = score_trial(trial, model, reader, model.head, run.trained().weights());
  result.local = scores.local;
  result.global = scores.global;
}

}  // namespace

TrialResult try_settings(const TrialGround& ground, const Candidate& candidate, std::size_t number,
                         UnreadableSamples& unreadable, std::optional<Quality>* before) {
  TrialResult result{candidate, {}, {}, 0, ""};
  const daemon::JobSpec spec =
      for_trials(filled(ground.night.file.spec, candidate, ground.mix.train.size(), kTrialPart));
  Pace pace;
  const auto watch = [&](daemon::Stage stage, std::int64_t done, std::int64_t all) {
    return pace.is_in_time(stage, done, all, ground.seconds_left());
  };
  NightContext trial(ground.night, ground.night.files.trial(number), spec, ground.mix, watch);
  trial.is_read = ground.is_read;
  try {
    train_and_judge(ground, trial, result, unreadable, before);
  } catch (const Stopped&) {
    if (ground.night.is_stopped()) throw;
    result.failed = "it takes longer than there was time for trials";
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    result.failed = error.what();
  }
  trial.clock.add();
  result.seconds = trial.clock.total();
  return result;
}

}  // namespace moil::night
