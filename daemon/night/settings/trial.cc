#include "daemon/night/settings/trial.h"

#include <algorithm>
#include <set>

#include "base/seconds.h"
#include "daemon/night/data/field_error.h"
#include "daemon/night/data/mix_record.h"
#include "daemon/night/imprint/imprint_rows.h"
#include "daemon/night/judge/judge.h"
#include "daemon/night/judge/local_scorer.h"
#include "daemon/night/maps/head_network.h"
#include "daemon/night/plan/kernel_profile.h"
#include "daemon/night/train/distillation.h"
#include "daemon/night/train/stopped.h"
#include "datasets/sampling/per_class.h"

namespace moil::night {
namespace {

// Held-out samples are dealt in turns to parts of so many at least, each scored by the task's
// headline: how much the parts differ is how little a figure says.
constexpr std::size_t kMostParts = 16, kFewestInPart = 8;

std::size_t parts_of(const data::Mix& mix) {
  std::size_t fewest = mix.local_validation.size();
  if (!mix.global_validation.empty()) fewest = std::min(fewest, mix.global_validation.size());
  return std::clamp<std::size_t>(fewest / kFewestInPart, 2, kMostParts);
}

class NoTimeLeft : public Error {
 public:
  NoTimeLeft() : Error(ErrorCode::kCancelled, "it takes longer than there was time for trials") {}
};

// What is left of a piece of work takes as long as what is done since it began to get on. Seen once
// that has taken so long, and a part of the time that is left: a device that was busy for a moment
// is not slow.
constexpr double kSecondsToSee = 2, kPartToSee = 0.05;

class Pace {
 public:
  bool is_in_time(std::int64_t done, std::int64_t all, double seconds_left) {
    if (first_ < 0) {
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
  std::int64_t first_ = -1;
  std::chrono::steady_clock::time_point began_;
};

class Trial {
 public:
  Trial(const TrialGround& ground, const daemon::JobSpec& spec)
      : ground_(ground), spec_(spec), model_(plan_night(input())) {
    ground.data.check_features(model_.backbone->network_fingerprint(), model_.freeze.split);
    save_kernel_profile(ground.kernel_profile, {model_.kernel_profile(), {}});
    room_ = std::make_unique<DecodingRoom>(model_.decoding_room);
    origins_ = ground.data.origins();
    origins_.room = room_.get();
    cache::FeatureCache* cache = nullptr;
    cache::ModelId id;
    if (spec.cache.enabled && !model_.backbone->is_identity())
      std::tie(id, cache) = ground.open_cache(model_, spec);
    reader_ =
        std::make_unique<FeatureReader>(origins_, ground.base.kind, *model_.backbone, cache, id,
                                        Augmentation{spec.augment.views, spec.augment.flip});
    is_cached_ = cache != nullptr;
    ground.forecast(forecast_memory(model_, is_cached_));
  }

  UnreadableSamples bring_maps() {
    if (!is_cached_ && ground_.is_read) return {};
    const data::Mix& mix = ground_.mix;
    std::vector<FeatureReader::Portion> portions;
    portions.push_back(trained_portion(mix, spec_, model_.asks_plain));
    portions.push_back({mix.global_validation});
    portions.push_back({mix.local_validation});
    FeatureReader::Filled filled;
    const std::int64_t maps = reader_->feature_maps(portions);
    Pace pace;
    const auto progress = [&](std::int64_t done) { return go_on(pace, done, maps); };
    const bool done = is_cached_ ? reader_->fill(portions, filled, progress)
                                 : reader_->survey(portions, filled.unreadable, progress);
    if (!done) end();
    model_.backbone->release();
    return filled.unreadable;
  }

  void train() {
    if (!model_.trainer) throw Error(ErrorCode::kFailedPrecondition, "nothing of it trains");
    const Teacher teacher = ask_teacher();
    Pace imprinting;
    if (model_.imprint)
      imprint_rows({*model_.imprint, ground_.base, ground_.mix, *reader_, *model_.trainer_kernels,
                    model_.head},
                   model_.bundle, [&](std::int64_t done, std::int64_t all) {
                     if (!go_on(imprinting, done, all)) end();
                   });
    training_ = plain_training(*model_.trainer);
    (void)training_->begin(model_.bundle.weights, ground_.folder / "trial.none");
    for (const Node& node : model_.trainer->network().graph().nodes)
      for (const WeightSpec& weight : node.weights) trained_.insert(weight_name(node, weight));
    const MixTargets targets(*model_.bundle.task, ground_.mix, model_.bundle.labels.size());
    FeatureSource source(ground_.mix.train, targets, *reader_, teacher);
    Trainer::Callbacks callbacks;
    callbacks.order = [&](std::int64_t epoch) {
      return source.order(data::epoch_order(ground_.mix.train.size(), spec_.seed,
                                            static_cast<std::uint64_t>(epoch)),
                          epoch);
    };
    Pace pace;
    callbacks.on_step = [&](std::int64_t step, std::int64_t all, double) {
      return go_on(pace, step, all);
    };
    if (!training_->run(source, callbacks)) end();
    training_->end();
  }

  // Judges the head as it was trained.
  void judge(Quality& local, Quality& global) {
    const auto weights = [&](const ModelDescription& part) {
      return weights_by_name(part, [&](const std::string& name) {
        return trained_.contains(name) ? training_->weight(name) : model_.bundle.weights.read(name);
      });
    };
    score(model_.head, weights, &local, global);
  }

  Quality judge_base() {
    Quality global;
    score(model_.base_head, weights_of(ground_.base), nullptr, global);
    return global;
  }

 private:
  NightPlanInput input() const {
    return {.base = ground_.base,
            .mix = ground_.mix,
            .spec = spec_,
            .known_samples = ground_.data.known_samples(),
            .decoding = ground_.decoding,
            .profile = load_kernel_profile(ground_.kernel_profile).choices,
            .swap_folder = ground_.folder,
            .measuring = &ground_.measuring,
            .processors = &ground_.processors};
  }

  bool go_on(Pace& pace, std::int64_t done, std::int64_t all) const {
    return ground_.may_go_on() && pace.is_in_time(done, all, ground_.seconds_left());
  }

  [[noreturn]] void end() const {
    if (!ground_.may_go_on()) throw Stopped{};
    throw NoTimeLeft{};
  }

  Teacher ask_teacher() {
    if (spec_.train.distill == 0 || count_global(ground_.mix) == 0) return {};
    const auto file = ground_.folder / "trial.soft_targets";
    HeadNetwork teacher(model_.base_head, *model_.trainer_kernels);
    teacher.allocate(weights_of(ground_.base));
    const auto asked = trained_portion(ground_.mix, spec_, false);
    const std::int64_t all = count_questions(asked, *reader_);
    Pace pace;
    if (!write_soft_targets(file, teacher, *ground_.base.task, asked, *reader_,
                            [&](std::int64_t done) { return go_on(pace, done, all); }))
      end();
    soft_.emplace(file, ground_.mix.train, reader_->views_of(data::Source::kGlobal));
    std::filesystem::remove(file);  // it stays open
    return {&*soft_, spec_.train.distill};
  }

  // local null: not asked for.
  void score(const ModelDescription& head, const WeightsOfPart& weights, Quality* local,
             Quality& global) {
    const Task& task = *ground_.base.task;
    HeadNetwork network(head, *model_.trainer_kernels);
    network.allocate(weights);
    const auto outputs = network.network().output_info(0).dims.elements_per_sample();
    const MixTargets targets(task, ground_.mix, static_cast<std::size_t>(outputs));
    const std::size_t parts = parts_of(ground_.mix);
    std::vector<std::unique_ptr<Scorer>> of_global;
    std::vector<LocalScorer> of_local;
    for (std::size_t i = 0; i < parts; ++i) {
      of_global.push_back(task.scorer(network.form()));
      of_local.emplace_back(task, network.form(), ground_.mix.local_validation);
    }
    const Asked asked{network.network(), task, network.form()};
    for_each_sample(ground_.mix.global_validation, targets, *reader_, asked,
                    [&](std::int64_t sample, auto output, auto target) {
                      const std::size_t part = static_cast<std::size_t>(sample) % parts;
                      of_global[part]->add(output, target);
                      of_local[part].add_global(output, target);
                    });
    if (local != nullptr) {
      for_each_sample(ground_.mix.local_validation, targets, *reader_, asked,
                      [&](std::int64_t sample, auto output, auto target) {
                        of_local[static_cast<std::size_t>(sample) % parts].add_local(output,
                                                                                     target);
                      });
      *local = figures(of_local, [](const LocalScorer& each) { return &each.scorer(); });
    }
    if (ground_.mix.global_validation.empty())
      global = {};
    else
      global = figures(of_global, [](const auto& each) { return each.get(); });
  }

  // Larger is better. A part that tells nothing counts as nothing known.
  template <class Scorers, class Get>
  Quality figures(const Scorers& scorers, const Get& scorer_of) const {
    const Metric metric = ground_.base.task->headline();
    Quality quality;
    for (const auto& each : scorers) {
      const Scorer* scorer = scorer_of(each);
      const double value = scorer->scores().front().value.value_or(0);
      quality.headline.push_back(metric.higher_is_better ? value : -value);
      quality.fine.push_back(scorer->quality().value_or(quality.headline.back()));
    }
    return quality;
  }

  const TrialGround& ground_;
  const daemon::JobSpec& spec_;
  NightModel model_;
  std::unique_ptr<DecodingRoom> room_;
  Origins origins_;
  std::unique_ptr<FeatureReader> reader_;
  bool is_cached_ = false;
  std::optional<SoftTargets> soft_;
  std::unique_ptr<HeadTraining> training_;
  std::set<std::string> trained_;
};

// Trials train as it is, whatever a night does about its time and its record.
daemon::JobSpec for_trials(daemon::JobSpec spec) {
  spec.elastic.reset();
  spec.deadline_seconds.reset();
  spec.evaluate_every_epoch = true;  // it is judged while its training is there
  return spec;
}

constexpr double kPartOfSteps = 0.5;

}  // namespace

TrialResult try_settings(const TrialGround& ground, const daemon::JobSpec& job,
                         const Candidate& candidate, UnreadableSamples& unreadable,
                         std::optional<Quality>* before) {
  TrialResult result{candidate, {}, {}, 0, ""};
  const auto start = std::chrono::steady_clock::now();
  const daemon::JobSpec spec =
      for_trials(filled(job, candidate, ground.mix.train.size(), kPartOfSteps));
  try {
    Trial trial(ground, spec);
    unreadable = trial.bring_maps();
    if (unreadable.empty()) {
      if (before != nullptr) *before = trial.judge_base();
      trial.train();
      trial.judge(result.local, result.global);
    }
  } catch (const NoTimeLeft& error) {
    result.failed = error.what();
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    result.failed = error.what();
  }
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace moil::night
