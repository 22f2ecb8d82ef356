#include "daemon/night/night_plan.h"

#include "daemon/models/known_symbols.h"
#include "daemon/night/data/field_error.h"
#include "daemon/night/data/global_share.h"
#include "daemon/night/data/mix_record.h"
#include "daemon/night/data/night_data.h"
#include "daemon/night/judge/measurable.h"
#include "daemon/night/plan/kernel_profile.h"
#include "daemon/night/plan/memory_forecast.h"
#include "daemon/night/plan/night_model.h"
#include "daemon/night/plan/processor_plan.h"
#include "daemon/night/plan/timing_store.h"
#include "daemon/night/settings/space.h"
#include "daemon/spec/processor_use.h"
#include "engine/kernels/parallel.h"
#include "engine/plan/plan_picture.h"
#include "engine/plan/plan_report.h"
#include "engine/train/memory_fit.h"

namespace moil::night {
namespace {

class JobPlan {
 public:
  JobPlan(const daemon::StateLayout& layout, const daemon::JobFile& file)
      : layout_(layout),
        spec_(file.spec),
        map_room_(room_for_cached_maps(layout, file)),
        stored_(open_model_folder(layout.version(spec_.model, file.base_version))),
        base_(stored_),
        data_(layout, file.spec, stored_) {
    set_thread_count(file.threads);
    spec_ = with_usual_optimizer(std::move(spec_), *base_.task);
    if (spec_.augment.views > 1 && !base_.kind->has_views())
      throw field_error("/augment/views", "samples of the kind \"" +
                                              std::string(base_.kind->name()) +
                                              "\" have no views but the plain one; set it to 1");
    mix_ = data_.draw_mix(spec_, base_);
    data_.guess_parts(mix_, *base_.kind);
    if (trains(spec_)) learn_symbols(base_, data_.unknown_symbols(mix_, *stored_.kind));
    begin_as_the_night_would();
    if (const auto why = not_measurable(spec_.guard, measurable(mix_, base_)))
      throw field_error(why->pointer, why->message);
    needs_ =
        decoding_needs(data_.origins(), mix_, *base_.kind, thread_count(), most_for_samples(spec_));
  }

  Json run(const PlanRequest& options) {
    const NightModel night = plan(spec_, options.timing || !options.processors.empty());
    data_.check_features(night.backbone->network_fingerprint(), night.freeze.split);
    const bool cached = spec_.cache.enabled && !night.backbone->is_identity();
    MemoryForecast forecast = forecast_memory(night, cached);
    forecast.trials = trial_bytes();
    add_listening(forecast, night, cached, spec_.memory.budget_bytes);
    if (options.check) return {{"predicted_bytes", forecast.total()}};
    Json reply = {{"predicted_bytes", forecast.total()},
                  {"budget_bytes", Json(nullptr)},
                  {"parts",
                   {{"libraries", forecast.libraries},
                    {"weights", forecast.weights},
                    {"samples", forecast.samples},
                    {"decoding", forecast.decoding},
                    {"caching", forecast.caching},
                    {"training", forecast.training},
                    {"judging", forecast.judging},
                    {"listening", forecast.listening},
                    {"trials", forecast.trials}}},
                  {"samples", mix_.train.size()},
                  {"steps", night.steps},
                  {"settings", settled_},
                  {"maps", nullptr},
                  {"training", nullptr},
                  {"less", Json::array()}};
    if (spec_.memory.budget_bytes) reply["budget_bytes"] = *spec_.memory.budget_bytes;
    if (cached && night.maps) reply["maps"] = to_json(*night.maps);
    if (!options.processors.empty()) tell_processors(reply, night, options);
    if (!night.trainer) return reply;
    reply["training"] = training(night);
    reply["less"] = alternatives(night);
    if (options.timing) reply["timing"] = timing(night);
    if (options.picture && options.processors.empty()) {
      const Network& network = night.trainer->network();
      reply["picture"] =
          draw_plan(spec_.name + ": a training step", network.graph(), network.plan());
    }
    return reply;
  }

 private:
  // With what the night tries first in the open fields: what it chooses only the night will tell.
  void begin_as_the_night_would() {
    if (spec_.open.empty()) return;
    const daemon::JobSpec job = spec_;
    const SearchSpace space = search_space(job, base_, data_, mix_.train.size());
    const Candidate first = Search(space).cheapest();
    for (const Depth& depth : space.depths) {
      Candidate other = first;
      other.layers = depth;
      other.views = space.views.back();
      trials_.push_back(filled(job, other, mix_.train.size()));
      trials_.back().evaluate_every_epoch = true;  // a trial is judged while its training is there
    }
    spec_ = filled(job, first, mix_.train.size());
    spec_.global = global_share(job, mix_.train.size() - count_global(mix_));
    settled_ = settled_fields(job, spec_);
  }

  // The bytes of the largest that the night may try; what does not fit its budget is not tried.
  std::size_t trial_bytes() const {
    std::size_t bytes = 0;
    for (const daemon::JobSpec& spec : trials_) {
      try {
        const NightModel night = plan(spec);
        const bool cached = spec.cache.enabled && !night.backbone->is_identity();
        bytes = std::max(bytes, forecast_memory(night, cached).total());
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kInvalidArgument) throw;
      }
    }
    return bytes;
  }

  // measured: with the kernels that the night will measure, and their times.
  NightModel plan(const daemon::JobSpec& spec, bool measured = false) const {
    NightPlanInput input{.base = base_,
                         .mix = mix_,
                         .spec = spec,
                         .known_samples = data_.known_samples(),
                         .decoding = needs_,
                         .profile = load_kernel_profile(layout_.kernel_profile()).choices,
                         .swap_folder = layout_.jobs(),
                         .dry = !measured,
                         .measuring = &measuring_};
    if (data_.origins().global_features == nullptr) input.map_room = map_room_;
    NightModel night = plan_night(input);
    if (measured) save_kernel_profile(layout_.kernel_profile(), {night.kernel_profile(), {}});
    return night;
  }

  Json timing(const NightModel& night) const {
    const TrainerConfig& config = night.trainer->config();
    const TimingStore store(layout_.timing_profiles(spec_.model), night.head,
                            night.freeze.trainable_layers, config, thread_count());
    const ProfileInForce found = timing_profile(store, night);
    const TimingProfile& profile = found.profile;
    Json layers = Json::array();
    for (const LayerTiming& layer : profile.layers) layers.push_back(described(layer));
    return {{"step_seconds", profile.step},
            {"forward_seconds", profile.forward},
            {"forward_share", profile.forward / profile.step},
            {"smallest_rho", smallest_speedup_ratio(profile)},
            {"measuring_seconds", found.seconds},
            {"layers", layers}};
  }

  static Json described(const LayerTiming& layer) {
    Json tensors = Json::array();
    for (const WeightTiming& w : layer.weights)
      tensors.push_back({{"tensor", w.name}, {"update_seconds", w.update}});
    return {{"layer", layer.layer},
            {"forward_seconds", layer.forward},
            {"pass_seconds", layer.pass},
            {"tensors", tensors}};
  }

  void tell_processors(Json& reply, const NightModel& night, const PlanRequest& options) const {
    const SelectionMethod method = selection_method(options.processors);
    if (const std::string why = why_only_the_cpu(night); !why.empty()) {
      reply["processors"] = {{"why", why}};
      return;
    }
    ProcessorPlan plan =
        plan_processors({night.head, night.freeze.trainable_layers, night.trainer->config(),
                         *night.trainer_kernels},
                        method, spec_.name + ": a training step", layout_.profiles());
    reply["processors"] = std::move(plan.told);
    if (options.picture && !plan.picture.empty()) reply["picture"] = std::move(plan.picture);
  }

  // If a job may not ask for another processor, none is measured. Empty: one may be.
  std::string why_only_the_cpu(const NightModel& night) const {
    if (!night.trainer) return "nothing trains";
    if (!daemon::may_be_another_processor(spec_))
      return "elastic training, deadlines and exact_arithmetic are the CPU's alone";
    return "";
  }

  static Json training(const NightModel& night) {
    const Network& network = night.trainer->network();
    const PlanReport report = report_plan(network.graph(), network.plan());
    Json kinds = Json::object();
    for (const auto& [kind, bytes] : report.at_peak) kinds[to_string(kind)] = bytes;
    const TrainerConfig& config = night.trainer->config();
    return {{"planned_bytes", report.planned_bytes},
            {"lower_bound_bytes", report.lower_bound_bytes},
            {"sorting_bytes", report.sorting_bytes},
            {"orders", report.orders},
            {"peak_order", report.peak_order},
            {"peak_step", report.peak_step},
            {"at_peak", kinds},
            {"trained_units", night.freeze.trained_units},
            {"units", night.freeze.total_units},
            {"batch", config.batch},
            {"micro_batch", micro_batch_of(config)},
            {"made_again", config.again.size()},
            {"swap",
             {{"mode", to_string(config.swap.mode)},
              {"read_bytes", night.swap_read_bytes},
              {"written_bytes", night.swap_written_bytes}}}};
  }

  // What training would need with less of something.
  Json alternatives(const NightModel& night) const {
    Json list = Json::array();
    const auto add = [&](const std::string& what, daemon::JobSpec spec) {
      spec.memory.budget_bytes.reset();
      spec.swap.max_write_bytes.reset();
      list.push_back({{"with", what},
                      {"planned_bytes", plan(spec).trainer->network().plan().memory.total_bytes}});
    };
    daemon::JobSpec spec = spec_;
    if (spec.train.batch > 1) {
      spec.train.batch /= 2;
      spec.train.micro_batch.reset();
      add("train.batch " + std::to_string(spec.train.batch), spec);
    }
    spec = spec_;
    if (night.freeze.trained_units > 1) {
      spec.freeze.trainable_layers.count = night.freeze.trained_units / 2;
      add("freeze.trainable_layers " + std::to_string(night.freeze.trained_units / 2), spec);
    }
    spec = spec_;
    if (night.training_memory.swap.mode == SwapMode::kOff) {
      spec.swap = {daemon::SwapWhen::kProactive, std::nullopt};
      add("swap.mode proactive", spec);
    }
    return list;
  }

  const daemon::StateLayout& layout_;
  daemon::JobSpec spec_;  // its open fields settled
  const std::uint64_t map_room_;
  Json settled_;                         // how
  std::vector<daemon::JobSpec> trials_;  // that the night may make
  const StoredModel stored_;
  StoredModel base_;  // as the night has it
  NightData data_;
  data::Mix mix_;
  mutable MeasuringTime measuring_{kMeasuringSeconds};
  DecodingNeeds needs_;
};

}  // namespace

Json plan_job(const daemon::StateLayout& layout, const daemon::JobFile& file,
              const PlanRequest& options) {
  return JobPlan(layout, file).run(options);
}

}  // namespace moil::night
