#include "daemon/night/stages/plan_stage.h"

#include <algorithm>
#include <cstdio>

#include "base/durations.h"
#include "base/files/disk_full.h"
#include "daemon/night/plan/kernel_profile.h"
#include "daemon/night/plan/map_identity.h"
#include "daemon/night/stages/night_deadline.h"
#include "engine/kernels/parallel.h"

namespace moil::night {
namespace {

using daemon::Stage;

// What the cache is asked for by, by the arithmetic: known from a night before, or computed.
using Answers = std::map<std::string, std::string>;

Answers answer_of(Backbone& backbone, const std::filesystem::path& kernel_profile) {
  Answers answers = answer_by_arithmetic(backbone, load_kernel_profile(kernel_profile));
  backbone.release();  // training may be timed before maps are computed
  return answers;
}

}  // namespace

PlanStage::~PlanStage() {
  night_.measuring.report_to({});
  night_.data.decode_within(nullptr);
}

void PlanStage::run() {
  night_.spec = night_.job;
  model_ = {};
  placement_ = {};
  begin_measuring();
  NightChoices& choices = night_.choices;
  choices = night_.files.load_choices().value_or(NightChoices{{}, night_.file.threads, nullptr});
  set_thread_count(choices.threads);
  needs_ = decoding_needs(night_.data.origins(), night_.mix, *night_.base.kind, thread_count(),
                          most_for_samples(night_.spec));
  if (night_.spec.deadline_seconds) choose_head();
  plan_networks();
  keep_kernels();
  if (model_.maps && !model_.maps->why.empty()) night_.events.note("cache: " + model_.maps->why);
  tell_processors("feature maps", "batch", model_.map_processors);
  place_training();
  profile_if_elastic();
  night_.measuring.report_to({});
  forecast_ = forecast_memory(model_, has_cache());
  forecast_.trials = night_.choices.trial_bytes;
  if (!night_.is_trial())
    add_listening(forecast_, model_, has_cache(), night_.spec.memory.budget_bytes);
  require_budget(forecast_);
}

void PlanStage::begin_measuring() {
  night_.measuring.report_to([this](double seconds) { after_kernel(seconds); });
  night_.begin(Stage::kMeasure, milliseconds(night_.measuring.limit()).count());
}

// How far the measuring of kernels is, of the time that it may take.
void PlanStage::after_kernel(double seconds) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_progress_ < std::chrono::milliseconds(200)) return;
  last_progress_ = now;
  const std::int64_t limit = milliseconds(night_.measuring.limit()).count();
  night_.progress(Stage::kMeasure, std::min(milliseconds(seconds).count(), limit), limit);
}

void PlanStage::plan_networks() {
  model_ = plan_night(input());
  night_.data.check_features(model_.backbone->network_fingerprint(), model_.freeze.split);
  room_ = std::make_unique<DecodingRoom>(model_.decoding_room);
  night_.data.decode_within(room_.get());
}

NightPlanInput PlanStage::input() {
  NightPlanInput input{.base = night_.base,
                       .mix = night_.mix,
                       .spec = night_.spec,
                       .known_samples = night_.data.known_samples(),
                       .rows_anew = night_.rows_anew,
                       .decoding = needs_,
                       .recorded = night_.choices.kernels,
                       .profile = load_kernel_profile(night_.layout.kernel_profile()).choices,
                       .swap_folder = night_.layout.job(night_.file.id),
                       .measuring = &night_.measuring,
                       .processors = &night_.processors,
                       .training = placement_};
  const nlohmann::json& memory = night_.choices.training_memory;
  if (!memory.is_null()) input.memory = restored([&] { return training_memory_from_json(memory); });
  // A pack of feature maps says itself what they are of.
  if (night_.data.origins().global_features == nullptr) {
    input.map_room = room_for_cached_maps(night_.layout, night_.file);
    input.map_split = night_.choices.map_split;
  }
  return input;
}

// With the job's layers as the deepest head that may be trained.
void PlanStage::choose_head() {
  if (!night_.choices.head) {
    plan_networks();
    night_.choices.head =
        model_.trainer ? head_in_time(night_, model_, has_cache(), measured_profile().profile)
                       : HeadChoice{0, 1};
  }
  use_head(*night_.choices.head, night_.spec);
  begin_measuring();
}

void PlanStage::keep_kernels() {
  night_.choices.kernels = model_.choices();
  if (model_.maps) night_.choices.map_split = model_.maps->value;
  night_.choices.training_memory = to_json(model_.training_memory);
  night_.save_choices();
  const auto file = night_.layout.kernel_profile();
  save_kernel_profile(
      file, {model_.kernel_profile(), has_cache() ? answer_of(*model_.backbone, file) : Answers{}});
  const std::int64_t limit = milliseconds(night_.measuring.limit()).count();
  night_.progress(Stage::kMeasure, limit, limit);
}

// On the CPU, but for what another processor was measured to be chosen for; then training is
// planned again, by the same kernels and in the same memory.
void PlanStage::place_training() {
  placement_ = {};
  if (!model_.trainer) return;
  nlohmann::json& recorded = night_.choices.processors;
  if (recorded.is_null()) {
    placement_ =
        night_.processors.for_training({model_.head, model_.freeze.trainable_layers,
                                        model_.trainer->config(), *model_.trainer_kernels});
  } else {
    placement_ = restored([&] { return night_.processors.recorded_training(recorded); });
  }
  if (!placement_.assignment.empty()) plan_placed();
  if (recorded == placement_.record) return;
  recorded = placement_.record;
  night_.save_choices();
  tell_processors("training", "step", placement_.record);
}

// Steps of another processor need workspaces of their own, and its driver memory, for which a
// budget may have no room.
void PlanStage::plan_placed() {
  try {
    plan_networks();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    placement_ = {{}, {}, on_cpu(error.what(), placement_.record)};
    plan_networks();
  }
  keep_kernels();
}

nlohmann::json PlanStage::processors() const {
  nlohmann::json told = placement_.record;
  if (!model_.map_processors.is_null()) told["feature_maps"] = model_.map_processors;
  return told;
}

// What a user asked for and does not get is told; on a device without a second processor nothing
// is.
void PlanStage::tell_processors(const char* what, const char* unit, const nlohmann::json& record) {
  if (record.is_null()) return;
  if (record.at("method") == "cpu") {
    const bool wanted = night_.spec.processors != daemon::ProcessorUse::kAuto &&
                        night_.spec.processors != daemon::ProcessorUse::kCpu;
    if (wanted)
      night_.events.note(std::string("processors: the CPU computes all of ") + what + ": " +
                         record.at("why").get<std::string>());
    return;
  }
  char text[200];
  std::snprintf(
      text, sizeof text, "processors: %zu layers of %s on %.80s, %.3g s a %s, of the CPU's %.3g s",
      record.at("layers").size(), what, record.at("device").get_ref<const std::string&>().c_str(),
      record.at("predicted_seconds").get<double>(), unit, record.at("cpu_seconds").get<double>());
  night_.events.note(text);
  for (const auto& refused : record.at("refused"))
    night_.events.note("processors: " + refused.get<std::string>());
}

// What a checkpoint was chosen by lies in it.
void PlanStage::profile_if_elastic() {
  if (!model_.elastic || !model_.trainer) return;
  if (night_.choices.rho) model_.elastic->speedup_ratio = *night_.choices.rho;
  if (std::filesystem::exists(night_.files.checkpoint())) return;
  profile_ = measured_profile();
  if (!night_.spec.deadline_seconds) raise_rho();
}

// To what forward and the cheapest layer take, if the job asks for less: it trains the least.
void PlanStage::raise_rho() {
  double& rho = model_.elastic->speedup_ratio;
  const double least = smallest_speedup_ratio(profile_.profile);
  if (rho >= least) return;
  char text[160];
  std::snprintf(text, sizeof text,
                "elastic.rho %.3g cannot be reached: forward and the cheapest layer take %.3g of a "
                "full step; that is trained",
                rho, least);
  night_.events.note(text);
  rho = least;
  night_.choices.rho = least;
  night_.save_choices();
}

TimingStore PlanStage::timing_store() const {
  return {night_.layout.timing_profiles(night_.spec.model), model_.head,
          model_.freeze.trainable_layers, model_.trainer->config(), thread_count()};
}

ProfileInForce PlanStage::measured_profile() {
  night_.begin(Stage::kProfile, 1);
  ProfileInForce profile = timing_profile(timing_store(), model_);
  night_.progress(Stage::kProfile, 1, 1);
  return profile;
}

void PlanStage::require_budget(const MemoryForecast& forecast) const {
  const auto& budget = night_.spec.memory.budget_bytes;
  if (!budget || forecast.total() <= static_cast<std::size_t>(*budget)) return;
  throw Error(ErrorCode::kInternal, "the night would need " + std::to_string(forecast.total()) +
                                        " bytes, although it was fitted to " +
                                        std::to_string(*budget));
}

void PlanStage::forecast_uncached(const std::string& what) {
  constexpr std::size_t kMapped = 2 * cache::kMostResidentBytes;
  MemoryForecast beside = forecast_memory(model_, false);
  beside.trials = forecast_.trials;
  beside.caching = forecast_.caching;
  beside.training += kMapped;
  beside.judging += kMapped;
  const auto& budget = night_.spec.memory.budget_bytes;
  if (budget && beside.total() > static_cast<std::size_t>(*budget)) {
    const std::string message =
        what + ", and to compute them beside training would take " +
        std::to_string(beside.total()) + " bytes; memory.budget_bytes allows " +
        std::to_string(*budget) +
        "; raise cache.quota_bytes or the budget, free disk space, or store bf16";
    const auto free = free_disk_bytes(night_.layout.cache());
    if (free && *free < static_cast<std::uint64_t>(night_.file.leave_free_bytes) + kMapped)
      throw DiskFull(message);
    throw Error(ErrorCode::kInvalidArgument, message);
  }
  if (!night_.is_trial()) add_listening(beside, model_, false, budget);
  forecast_ = beside;
}

}  // namespace moil::night
