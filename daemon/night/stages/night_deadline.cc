#include "daemon/night/stages/night_deadline.h"

#include <cstdio>

#include "base/seconds.h"
#include "daemon/night/data/field_error.h"

namespace moil::night {
namespace {

std::int64_t count(const std::vector<data::MixedSample>& samples) {
  return static_cast<std::int64_t>(samples.size());
}

// For the models before and after the night, and for what the task chooses by training samples.
double judging_seconds(const NightContext& night, const NightModel& model,
                       const TimingProfile& profile) {
  const bool fits = night.base.task->fitting({}) != nullptr;
  const std::size_t samples = 2 * night.held_out() + (fits ? night.mix.train.size() : 0);
  return static_cast<double>(samples) * profile.forward /
         static_cast<double>(micro_batch_of(model.trainer->config()));
}

// Read, decoded and fed forward through the backbone; the first batch warms up.
double seconds_of_a_sample(const std::vector<data::MixedSample>& samples, std::size_t batch,
                           FeatureReader& reader) {
  std::vector<SampleView> views;
  for (std::size_t i = 0; i < 3 * batch; ++i)
    views.push_back({&samples[i * samples.size() / (3 * batch)]});
  std::vector<float> maps(batch * reader.elements());
  UnreadableSamples unreadable;  // it is left out later
  reader.read(std::span(views).first(batch), maps.data(), &unreadable);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t b = 1; b < 3; ++b)
    reader.read(std::span(views).subspan(b * batch, batch), maps.data(), &unreadable);
  return seconds_since(start) / static_cast<double>(2 * batch);
}

NightCosts costs_of(NightContext& night, NightModel& model, bool has_cache,
                    const TimingProfile& profile) {
  const auto held_out = static_cast<std::int64_t>(night.held_out());
  const std::vector<data::MixedSample>& train = night.mix.train;
  FeatureReader reader(night.data.origins(), night.base.kind, *model.backbone, nullptr, {},
                       night.augmentation());
  const FeatureReader::Portion trained[] = {
      trained_portion(night.mix, night.spec, model.asks_plain)};
  NightCosts costs;
  costs.feature_maps = has_cache ? reader.feature_maps(trained) + held_out
                                 : count(train) * night.spec.train.epochs + 2 * held_out;
  costs.steps = steps_of_epoch(count(train), model.trainer->config()) * night.spec.train.epochs;
  night.clock.add();
  const auto batch = static_cast<std::size_t>(model.backbone->batch());
  costs.before = night.clock.total() + seconds_of_a_sample(train, batch, reader) *
                                           static_cast<double>(costs.feature_maps);
  costs.after = judging_seconds(night, model, profile);
  model.backbone->release();
  return costs;
}

}  // namespace

HeadChoice head_in_time(NightContext& night, NightModel& model, bool has_cache,
                        const TimingProfile& profile) {
  const double deadline = *night.spec.deadline_seconds;
  auto heads = head_times(model.bundle.description, model.freeze, night.spec.freeze.batch_norms,
                          model.trainer->config(), profile);
  std::erase_if(heads, [&](const HeadTimes& head) {
    const ModelDescription& whole = model.bundle.description;
    return !night.data.can_split_at(freeze_all_but_last(whole, head.trained_units).split);
  });
  const HeadChoice choice = at_field("/deadline_seconds", [&] {
    return choose_head(heads, costs_of(night, model, has_cache, profile), deadline);
  });
  char text[160];
  std::snprintf(text, sizeof text,
                "to end within %.0f s, the last %d of %d layers are trained, in steps of %.0f %% "
                "of their full time",
                deadline, choice.trained_units, model.freeze.total_units, 100 * choice.rho);
  night.events.note(text);
  return choice;
}

void use_head(const HeadChoice& head, daemon::JobSpec& spec) {
  spec.freeze.trainable_layers.count = head.trained_units;
  if (!spec.elastic) spec.elastic.emplace();
  spec.elastic->rho = head.rho;
}

void settle_rho(NightContext& night, NightModel& model, const TimingProfile& profile) {
  NightChoices& choices = night.choices;
  if (!night.spec.deadline_seconds || choices.head_is_final) return;
  night.clock.add();
  const HeadTimes head{choices.head->trained_units, profile.step,
                       smallest_speedup_ratio(profile) * profile.step};
  const double left =
      *night.spec.deadline_seconds - night.clock.total() - judging_seconds(night, model, profile);
  choices.head->rho = rho_in_time(head, left, model.steps);
  choices.head_is_final = true;
  night.save_choices();
  model.elastic->speedup_ratio = choices.head->rho;
}

}  // namespace moil::night
