#include "daemon/night/stages/choose_stage.h"

#include <algorithm>

#include "base/durations.h"
#include "base/mean.h"
#include "base/seconds.h"
#include "daemon/night/mix_record.h"
#include "daemon/night/settings/space.h"
#include "daemon/night/settings/trial_mix.h"
#include "engine/kernels/parallel.h"

namespace moil::night {
namespace {

using daemon::Json;
using daemon::Stage;

// Of the night's time; ten minutes where it has no deadline. Maps that trials compute are the
// night's, too.
constexpr double kShareForTrials = 0.4, kUsualSeconds = 600;

// For people: what was tried, in the report's words.
Json told(const TrialResult& result, bool admissible, std::size_t samples) {
  Json trial = {{"settings", to_json(result.candidate)},
                {"local", nullptr},
                {"global", nullptr},
                {"seconds", result.seconds},
                {"samples", samples},
                {"held", admissible},
                {"why", result.failed}};
  if (!result.local.headline.empty()) trial["local"] = mean(result.local.headline);
  if (!result.global.headline.empty()) trial["global"] = mean(result.global.headline);
  return trial;
}

}  // namespace

std::size_t ChooseStage::local_samples() const {
  return night_.mix.train.size() - count_global(night_.mix);
}

double ChooseStage::seconds_for_trials() const {
  return kShareForTrials * night_.file.spec.deadline_seconds.value_or(kUsualSeconds);
}

double ChooseStage::seconds_left() const {
  return seconds_for_trials() - spent_ - seconds_since(began_);
}

SettingsRecord ChooseStage::known_settings() const {
  return {night_.layout.settings(night_.file.spec.model), night_.file.spec};
}

FeatureReader::Unreadable ChooseStage::run() {
  night_.job = night_.file.spec;
  if (night_.job.open.empty()) return {};
  night_.choices = night_.files.load_choices().value_or(NightChoices{{}, night_.file.threads});
  set_thread_count(night_.choices.threads);
  if (const Json& chosen = night_.choices.settings; chosen.contains("chosen")) {
    restored([&] { settle(candidate_from_json(chosen.at("chosen")), chosen.at("why")); });
    return {};
  }
  return choose();
}

FeatureReader::Unreadable ChooseStage::choose() {
  if (const auto known = known_settings().find(local_samples())) {
    settle(known->candidate, "the night of version " + std::to_string(known->version) +
                                 " chose them, with " + std::to_string(known->local) +
                                 " local samples");
    return {};
  }
  const bool by_label = night_.base.task->outputs_are_labels();
  return try_all(trial_mix(night_.mix, by_label, night_.file.spec.seed));
}

TrialGround ChooseStage::ground(const data::Mix& mix) {
  return {night_.base,
          mix,
          night_.data.origins(),
          night_.data.known_samples(),
          decoding_needs(night_.data.origins(), mix, *night_.base.kind, thread_count(),
                         most_for_samples(night_.file.spec)),
          night_.layout.job(night_.file.id),
          night_.layout.kernel_profile(),
          night_.measuring,
          night_.processors,
          [this](NightModel& model, const daemon::JobSpec& spec) {
            night_.data.check_features(*model.backbone, model.freeze);
            return std::pair(cache_.use(model, spec.cache.dtype), cache_.cache());
          },
          [this] { return !night_.is_stopped(); },
          [this] { return seconds_left(); },
          [this](const MemoryForecast& forecast) { note_bytes(forecast.total()); }};
}

FeatureReader::Unreadable ChooseStage::try_all(const data::Mix& mix) {
  const daemon::JobSpec& job = night_.file.spec;
  SearchSpace space = search_space(job, night_.base, night_.data);
  const std::int64_t limit = milliseconds(seconds_for_trials()).count();
  night_.begin(Stage::kChoose, limit);
  began_ = std::chrono::steady_clock::now();
  TrialGround shared = ground(mix);
  FeatureReader::Unreadable unreadable;
  if (!mix.train.empty()) space.before = global_before(shared, job, unreadable);
  if (!unreadable.empty()) return unreadable;
  Search search(std::move(space));
  if (const Json& known = night_.choices.settings; known.contains("trials")) {
    restored([&] {
      for (const Json& trial : known.at("trials")) search.add(trial_result_from_json(trial));
    });
  }
  spent_ = search.seconds_spent();
  while (!mix.train.empty()) {
    const double left = seconds_left();
    const auto candidate = left > 0 ? search.next(left) : std::nullopt;
    if (!candidate) break;
    search.add(try_settings(shared, job, *candidate, unreadable));
    if (!unreadable.empty()) return unreadable;
    shared.is_read = shared.is_read || search.results().back().failed.empty();
    record(search);
    night_.progress(Stage::kChoose,
                    limit - std::max<std::int64_t>(0, milliseconds(seconds_left()).count()), limit);
  }
  const Search::Choice choice = search.choice();
  Json& settings = night_.choices.settings;
  settings["samples"] = mix.train.size();
  settings["admissible"] = Json::array();
  for (const TrialResult& result : search.results())
    settings["admissible"].push_back(search.is_admissible(result));
  settle(choice.candidate, choice.why);
  night_.clock.add();
  return {};
}

// The night's forecast takes it in.
void ChooseStage::note_bytes(std::size_t bytes) {
  std::size_t& most = night_.choices.trial_bytes;
  most = std::max(bytes, most);
}

// So that a night that is killed tries nothing twice.
void ChooseStage::record(const Search& search) {
  night_.require_remembered();
  Json trials = Json::array();
  for (const TrialResult& result : search.results()) trials.push_back(to_json(result));
  night_.choices.settings = {{"trials", std::move(trials)}};
  night_.save_choices();
  night_.clock.add();
}

void ChooseStage::settle(const Candidate& candidate, const std::string& why) {
  const daemon::JobSpec& job = night_.file.spec;
  night_.job = filled(job, candidate, night_.mix.train.size());
  night_.job.global = global_share(job, local_samples());
  Json& settings = night_.choices.settings;
  if (settings.contains("chosen")) return;
  settings["chosen"] = to_json(candidate);
  settings["why"] = why;
  night_.save_choices();
  night_.events.note("settings: " + why);
}

void ChooseStage::remember(bool promoted) const {
  const Json& settings = night_.choices.settings;
  if (!settings.contains("chosen")) return;
  if (!promoted) return known_settings().forget();
  known_settings().keep(
      {candidate_from_json(settings.at("chosen")), local_samples(), night_.file.version});
}

nlohmann::json ChooseStage::details() const {
  const Json& settings = night_.choices.settings;
  if (!settings.contains("chosen")) return nullptr;
  Json trials = Json::array();
  double seconds = 0;
  if (settings.contains("trials")) {
    for (std::size_t i = 0; i < settings.at("trials").size(); ++i) {
      const TrialResult result = trial_result_from_json(settings.at("trials")[i]);
      trials.push_back(told(result, settings.at("admissible").at(i), settings.at("samples")));
      seconds += result.seconds;
    }
  }
  Json chosen = settings.at("chosen");
  chosen["epochs"] = night_.job.train.epochs;
  return {{"trials", std::move(trials)},
          {"chosen", std::move(chosen)},
          {"fields", settled_fields(night_.file.spec, night_.job)},
          {"why", settings.at("why")},
          {"seconds", seconds}};
}

}  // namespace moil::night
