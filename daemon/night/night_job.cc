#include "daemon/night/night_job.h"

#include <algorithm>
#include <array>

#include "base/files/file.h"
#include "daemon/models/version_identity.h"
#include "daemon/night/data/field_error.h"
#include "daemon/night/judge/measurable.h"
#include "daemon/night/plan/processors.h"
#include "daemon/night/stages/night_result.h"
#include "daemon/night/stages/promote_stage.h"
#include "daemon/spec/job_result.h"
#include "featurecache/discard.h"

namespace moil::night {
namespace {

// False if what the night chose cannot be had; it has then chosen otherwise.
bool prepare(ChooseStage& choose, NightRun& run, UnreadableSamples& unreadable) {
  try {
    unreadable = run.prepare();
    return true;
  } catch (const Error& error) {
    if (!is_refusal(error) || !choose.give_up(error.what())) throw;
    return false;
  }
}

// Until every sample of the mix can be read.
void choose_and_prepare(MixStage& mix, ChooseStage& choose, NightRun& run) {
  for (;;) {
    UnreadableSamples unreadable = choose.run();
    if (unreadable.empty()) {
      if (!prepare(choose, run, unreadable)) continue;
      if (unreadable.empty()) return;
    }
    mix.leave_out(unreadable);
  }
}

void run_stages(NightContext& night) {
  MixStage mix(night);
  mix.run();
  if (const auto why = not_measurable(night.spec.guard, measurable(night.mix, night.base)))
    return promote(night, refused_result(night, mix, why->message));
  NightCache maps(night);
  ChooseStage choose(night, mix, maps);
  NightRun run(night, maps);
  choose_and_prepare(mix, choose, run);
  JudgeStage judge(night, run.plan().model(), run.cache().reader());
  judge.look_at_anchor();
  run.train();
  run.trained().write_version();
  judge.run();
  ListenStage listen(night, run.plan());
  listen.run();
  const std::string weights =
      weights_identity(night.layout.incoming(night.spec.model, night.file.version));
  auto refused = objection(night.spec.guard, judge.measured());
  if (!refused) refused = withdrawn_before(night.file, weights);
  choose.remember(!refused);
  const NightStages stages{mix, choose, run, judge, listen, weights};
  promote(night, night_result(night, stages, refused));
}

void run_attempt(const daemon::StateLayout& layout, const daemon::JobFile& file,
                 daemon::EventWriter& events, const std::atomic<bool>& stop) {
  NightContext night(layout, file, events, stop);
  night.files.remove_unfinished();
  std::filesystem::remove_all(layout.incoming(file.spec.model, file.version));
  run_stages(night);
}

// Damage is met again after so many cures: something keeps making it.
constexpr int kMostCures = 3;

void rebuild_cache(const daemon::StateLayout& layout, daemon::EventWriter& events,
                   const std::string& why) {
  cache::discard_content(layout.cache());
  events.note("the cache of feature maps is built anew: " + why);
}

// Training goes on from its last checkpoint, on the CPU.
void give_up_processor(const daemon::StateLayout& layout, const daemon::JobFile& file,
                       daemon::EventWriter& events, const std::string& why) {
  const NightFiles files(layout.job(file.id));
  NightChoices choices = files.load_choices().value_or(NightChoices{{}, file.threads});
  choices.processors = given_up(why, choices.processors);
  files.save_choices(choices);
  events.note("processors: the CPU computes all from here on: " + why);
}

// Whether a worker that told of this stage last may have had to do with the cache.
bool has_cache_open(const std::string& stage) {
  using daemon::Stage;
  constexpr std::array kBefore = {Stage::kScenes, Stage::kMix, Stage::kMeasure, Stage::kProfile};
  return std::ranges::none_of(kBefore, [&](Stage before) { return stage == to_string(before); });
}

// A worker that crashed may have met damage that nobody could tell, or a driver's defect.
void distrust_after_crash(const daemon::StateLayout& layout, const daemon::JobFile& file,
                          daemon::EventWriter& events) {
  const auto opened = NightFiles(layout.job(file.id)).processor_opened();
  const auto crashed = layout.job_crashed(file.id);
  if (std::filesystem::exists(crashed)) {
    if (has_cache_open(read_text(crashed)))
      rebuild_cache(layout, events, "the worker before crashed while it used it");
    if (std::filesystem::exists(opened)) {
      remember_crash(layout.profiles());
      give_up_processor(layout, file, events, "the worker crashed while its driver was in use");
    }
    std::filesystem::remove(crashed);
  }
  std::filesystem::remove(opened);
}

}  // namespace

void make_place_for_cache(const daemon::StateLayout& layout, daemon::EventWriter& events) {
  const auto folder = layout.cache();
  cache::remove_discarded(folder);
  if (!std::filesystem::exists(folder) || std::filesystem::is_directory(folder)) return;
  cache::discard(folder);
  events.note("the cache of feature maps is built anew: what lay in its place was no folder");
}

// What can be computed again is never the end of a job: if it is damaged it goes, and the night
// goes on from what is left.
bool run_night(const daemon::StateLayout& layout, const daemon::JobFile& file,
               daemon::EventWriter& events, const std::atomic<bool>& stop) {
  if (daemon::finished_result(layout, file.id, file.spec.model, file.version)) return true;
  distrust_after_crash(layout, file, events);
  for (int cures = 0;; ++cures) {
    try {
      run_attempt(layout, file, events, stop);
      std::filesystem::remove(NightFiles(layout.job(file.id)).processor_opened());
      return true;
    } catch (const Stopped&) {
      return false;
    } catch (const SampleForgotten& error) {
      NightFiles(layout.job(file.id)).remove_all();
      events.note(std::string(error.what()) + ", which begins anew without it");
    } catch (const ProcessorError& error) {
      if (cures >= kMostCures) throw;
      give_up_processor(layout, file, events, error.what());
    } catch (const cache::Unusable& error) {
      if (cures >= kMostCures) throw;
      rebuild_cache(layout, events, error.what());
    } catch (const DamagedRecord& error) {
      if (cures >= kMostCures) throw;
      NightFiles(layout.job(file.id)).remove_all();
      events.note(std::string("the night begins anew, for a record of it is damaged: ") +
                  error.what());
    }
  }
}

}  // namespace moil::night
