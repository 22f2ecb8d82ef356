#include "daemon/night/stages/choose_stage.h"

#include <algorithm>

#include "base/durations.h"
#include "base/mean.h"
#include "base/seconds.h"
#include "daemon/night/data/global_share.h"
#include "daemon/night/data/mix_record.h"
#include "daemon/night/settings/space.h"
#include "daemon/night/settings/trial_mix.h"
#include "engine/kernels/parallel.h"

namespace moil::night {
namespace {

using daemon::Stage;

// The share of the night's time; ten minutes if it has no deadline. Maps that trials compute are
// the night's, too.
constexpr double kShareForTrials = 0.4, kUsualSeconds = 600;

constexpr const char* kEpochs = "/train/epochs";

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

// The share of a night's steps if the model has learned all but the new samples: these are learned
// twice as often as the rest, and some steps are left for labels that were changed.
double part_for_what_is_new(std::size_t local, std::size_t learned) {
  const std::size_t fresh = local > learned ? local - learned : learned - local;
  const double share =
      static_cast<double>(fresh) / static_cast<double>(std::max<std::size_t>(1, local));
  return std::clamp(2 * share, 0.25, 1 - kTrialPart);
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

UnreadableSamples ChooseStage::run() {
  night_.job = night_.file.spec;
  if (night_.job.open.empty()) return {};
  night_.choices = night_.files.load_choices().value_or(NightChoices{{}, night_.file.threads});
  set_thread_count(night_.choices.threads);
  if (const Json& chosen = night_.choices.settings; chosen.contains("chosen")) {
    night_.rows_anew = chosen.value("anew", false);
    restored([&] { settle(candidate_from_json(chosen.at("chosen")), chosen.at("why")); });
    return {};
  }
  return choose();
}

UnreadableSamples ChooseStage::choose() {
  if (!trains(night_.file.spec)) {
    settle(searched().cheapest(), "nothing trains, so that there is nothing to try");
    return {};
  }
  if (const auto known = known_settings().find(local_samples())) {
    take(*known);
    return {};
  }
  make_rows_anew();
  const bool by_label = night_.base.task->outputs_are_labels();
  trials_ = trial_mix(night_.mix, by_label, night_.file.spec.seed, untrained_global());
  return try_all();
}

// What was learned of samples that judge trials is no evidence.
void ChooseStage::make_rows_anew() {
  night_.rows_anew = true;
  night_.choices.settings["anew"] = true;
}

// Rows that few steps train are made anew of all samples; what takes longer goes on, with what is
// new.
void ChooseStage::take(const KnownSettings& known) {
  Json& settings = night_.choices.settings;
  settings["known"] = known.local;
  const bool goes_on =
      known.version == night_.file.base_version && night_.file.spec.open.contains(kEpochs);
  if (goes_on && known.candidate.steps == kFewClassifierSteps)
    make_rows_anew();
  else if (goes_on)
    settings["part"] = part_for_what_is_new(local_samples(), known.learned);
  settle(known.candidate, "the nights up to version " + std::to_string(known.version) +
                              " had them, chosen with " + std::to_string(known.local) +
                              " local samples");
}

// If the night trains on nothing of the pack, what it forgets is told by samples of the pack
// that it could have trained on.
std::vector<data::MixedSample> ChooseStage::untrained_global() const {
  if (count_global(night_.mix) > 0) return {};
  daemon::JobSpec spec = night_.file.spec;
  spec.open.clear();
  spec.global.alpha = 1;
  spec.global.limit = static_cast<std::int64_t>(kMostTrialsHoldOut);
  data::Mix mix = night_.data.draw_mix(spec, night_.base, digests_of(mix_.left_out()));
  night_.data.count_parts(mix, *night_.base.kind);
  std::erase_if(mix.train, [](const data::MixedSample& sample) { return !sample.is_global(); });
  return std::move(mix.train);
}

TrialGround ChooseStage::ground() {
  const auto left = [this] {
    tell();
    return seconds_left();
  };
  return {night_, cache_, trials_, left, [this](std::size_t bytes) { note_bytes(bytes); }};
}

std::vector<TrialResult> ChooseStage::tried() const {
  return restored([&] {
    std::vector<TrialResult> results;
    for (const Json& trial : night_.choices.settings.value("trials", Json::array()))
      results.push_back(trial_result_from_json(trial));
    return results;
  });
}

Search ChooseStage::searched() const {
  SearchSpace space =
      search_space(night_.file.spec, night_.base, night_.data, trials_.train.size());
  return restored([&] {
    const Json& settings = night_.choices.settings;
    if (settings.contains("before")) space.before = quality_from_json(settings.at("before"));
    Search search(std::move(space));
    for (TrialResult& result : tried()) search.add(std::move(result));
    for (const Json& given_up : settings.value("given_up", Json::array()))
      search.give_up(candidate_from_json(given_up.at("settings")), given_up.at("why"));
    return search;
  });
}

UnreadableSamples ChooseStage::try_all() {
  night_.begin(Stage::kChoose, milliseconds(seconds_for_trials()).count());
  began_ = std::chrono::steady_clock::now();
  TrialGround shared = ground();
  UnreadableSamples unreadable;
  Search search = searched();
  spent_ = search.seconds_spent();
  while (try_next(search, shared, unreadable)) {
    if (!unreadable.empty()) return unreadable;
    record(search);
  }
  const Search::Choice choice = search.choice();
  settle(choice.candidate, choice.why);
  night_.clock.add();
  return {};
}

// The night's forecast takes it in.
void ChooseStage::note_bytes(std::size_t bytes) {
  std::size_t& most = night_.choices.trial_bytes;
  most = std::max(bytes, most);
}

// False if enough is known, or the time is over.
bool ChooseStage::try_next(Search& search, TrialGround& ground, UnreadableSamples& unreadable) {
  const double left = seconds_left();
  if (trials_.train.empty() || left <= 0) return false;
  const auto candidate = search.next(left);
  if (!candidate) return false;
  Json& settings = night_.choices.settings;
  std::optional<Quality> before;
  search.add(try_settings(ground, *candidate, search.results().size(), unreadable,
                          settings.contains("before") ? nullptr : &before));
  if (before) {
    search.set_before(*before);
    settings["before"] = to_json(*before);
  }
  ground.is_read = ground.is_read || search.results().back().failed.empty();
  return true;
}

// So that a night that is killed tries nothing twice.
void ChooseStage::record(const Search& search) {
  night_.require_remembered();
  night_.choices.settings["samples"] = trials_.train.size();
  Json& trials = night_.choices.settings["trials"] = Json::array();
  for (const TrialResult& result : search.results()) trials.push_back(to_json(result));
  night_.save_choices();
  night_.clock.add();
  tell();
}

// How much of the time for trials is over.
void ChooseStage::tell() {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_told_ < std::chrono::milliseconds(200)) return;
  last_told_ = now;
  const std::int64_t limit = milliseconds(seconds_for_trials()).count(),
                     left = milliseconds(seconds_left()).count();
  (void)night_.report(Stage::kChoose, limit - std::max<std::int64_t>(0, left), limit);
}

bool ChooseStage::give_up(const std::string& why) {
  Json& settings = night_.choices.settings;
  if (!settings.contains("chosen")) return false;
  const Candidate given_up = candidate_from_json(settings.at("chosen"));
  Search search = searched();
  if (given_up == search.cheapest()) return false;
  settings["given_up"].push_back({{"settings", to_json(given_up)}, {"why", why}});
  settings.erase("chosen");
  search.give_up(given_up, why);
  const Candidate next = search.choice().candidate;
  settle(next, in_words(next) + ", for " + in_words(given_up) + " cannot be had: " + why);
  night_.choices.rho.reset();
  night_.save_choices();
  night_.files.remove_training();
  return true;
}

void ChooseStage::settle(const Candidate& candidate, const std::string& why) {
  const daemon::JobSpec& job = night_.file.spec;
  Json& settings = night_.choices.settings;
  const bool is_settled = settings.contains("chosen");
  if (!is_settled) begin_with_trial_of(candidate);
  const Json begun = settings.value("begun", Json());
  night_.begun = begun.is_null() ? std::filesystem::path()
                                 : NightFiles(night_.files.trial(begun)).checkpoint();
  const double part = begun.is_null() ? settings.value("part", 1.0) : 1 - kTrialPart;
  night_.job = filled(job, candidate, night_.mix.train.size(), part);
  night_.job.global = global_share(job, local_samples());
  if (is_settled) return;
  settings["chosen"] = to_json(candidate);
  settings["why"] = why;
  night_.save_choices();
  night_.events.note("settings: " + why);
}

// If there is one that was trained to its end, of the night's own optimizer and steps; the others'
// files go.
void ChooseStage::begin_with_trial_of(const Candidate& candidate) {
  const daemon::JobSpec& job = night_.file.spec;
  Json& settings = night_.choices.settings;
  settings.erase("begun");
  if (settings.contains("given_up")) settings.erase("part");
  const bool may_begin = job.open.contains(kEpochs) && !job.elastic && !job.deadline_seconds;
  const std::vector<TrialResult> results = tried();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const NightFiles trial(night_.files.trial(i));
    const bool is_its = results[i].candidate == candidate && results[i].failed.empty();
    const bool is_there = std::filesystem::exists(trial.checkpoint());
    const auto choices = may_begin && is_its && is_there ? trial.load_choices() : std::nullopt;
    if (choices) {
      settings["begun"] = i;
      night_.choices.map_split = choices->map_split;
    } else {
      std::filesystem::remove_all(night_.files.trial(i));
    }
  }
}

void ChooseStage::remember(bool promoted) const {
  const Json& settings = night_.choices.settings;
  if (!settings.contains("chosen") || !trains(night_.file.spec)) return;
  // What was known and could not be had is to be looked for anew; what nobody tried is no finding.
  const bool given_up = settings.contains("given_up"), tried = settings.contains("trials");
  const bool known = settings.contains("known") && !given_up;
  if (promoted && (tried || known)) {
    const std::size_t local = known ? settings.at("known").get<std::size_t>() : local_samples();
    known_settings().keep(
        {candidate_from_json(settings.at("chosen")), local, night_.file.version, local_samples()});
  } else if (!promoted || given_up) {
    known_settings().forget();
  }
}

nlohmann::json ChooseStage::details() const {
  const Json& settings = night_.choices.settings;
  if (!settings.contains("chosen")) return nullptr;
  Json trials = Json::array();
  const Search search = searched();
  for (const TrialResult& result : search.results())
    trials.push_back(told(result, search.is_admissible(result), settings.at("samples")));
  Json chosen = settings.at("chosen");
  chosen["epochs"] = night_.job.train.epochs;
  return {{"trials", std::move(trials)},
          {"chosen", std::move(chosen)},
          {"fields", settled_fields(night_.file.spec, night_.job)},
          {"why", settings.at("why")},
          {"seconds", search.seconds_spent()}};
}

}  // namespace moil::night
