#include "daemon/night/stages/night_context.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "daemon/models/known_symbols.h"
#include "daemon/night/plan/night_model.h"
#include "daemon/night/settings/candidate.h"

namespace moil::night {
namespace {

std::string reason_to_give_up(const NightFiles& files) {
  const auto choices = files.load_choices();
  return choices ? reason_given_up(choices->processors) : "";
}

double most_measuring(const daemon::JobSpec& spec) {
  if (!spec.deadline_seconds) return kMeasuringSeconds;
  return std::min(kMeasuringSeconds, kMeasuringShare * *spec.deadline_seconds);
}

daemon::JobFile settled(daemon::JobFile file, const Task& task) {
  file.spec = with_usual_optimizer(std::move(file.spec), task);
  return file;
}

// Nor does it hear that it should stop.
[[noreturn]] void stand_still() {
  ::prctl(PR_SET_NAME, "stands-still");  // its tests wait for that
  for (;;) ::pause();
}

}  // namespace

NightContext::Ground::Ground(const daemon::StateLayout& layout, const daemon::JobFile& job_file)
    : processors(job_file.spec, layout.profiles(),
                 reason_to_give_up(NightFiles(layout.job(job_file.id))),
                 NightFiles(layout.job(job_file.id)).processor_opened()),
      measuring(most_measuring(job_file.spec)),
      stored(open_model_folder(layout.version(job_file.spec.model, job_file.base_version))),
      file(settled(job_file, *stored.task)),
      base(stored),
      data(layout, file.spec, stored) {}

NightContext::NightContext(const daemon::StateLayout& state_layout, const daemon::JobFile& job_file,
                           daemon::EventWriter& event_writer, const std::atomic<bool>& stop_flag)
    : ground_(std::make_shared<Ground>(state_layout, job_file)),
      layout(state_layout),
      file(ground_->file),
      job(file.spec),
      spec(file.spec),
      events(event_writer),
      stop(stop_flag),
      files(layout.job(file.id)),
      processors(ground_->processors),
      clock(files),
      probe(ground_->probe),
      measuring(ground_->measuring),
      base(ground_->base),
      data(ground_->data) {}

NightContext::NightContext(NightContext& night, const std::filesystem::path& folder,
                           daemon::JobSpec trial, data::Mix samples, Watch watch)
    : ground_(night.ground_),
      watch_(std::move(watch)),
      layout(night.layout),
      file(night.file),
      job(trial),
      spec(std::move(trial)),
      events(silent_),
      stop(night.stop),
      files(folder),
      rows_anew(night.rows_anew),
      processors(ground_->processors),
      clock(files),
      probe(ground_->probe),
      measuring(ground_->measuring),
      base(ground_->base),
      data(ground_->data),
      mix(std::move(samples)) {
  std::filesystem::create_directories(folder);
  files.remove_unfinished();
}

void NightContext::learn_symbols() {
  ground_->base = ground_->stored;
  if (!trains(job)) return;
  const std::vector<std::string> fresh = data.unknown_symbols(mix, *ground_->stored.kind);
  night::learn_symbols(ground_->base, fresh);
}

void NightContext::begin(daemon::Stage stage, std::int64_t total) {
  require_remembered();
  clock.begin(stage);
  progress(stage, 0, total);
}

bool NightContext::report(daemon::Stage stage, std::int64_t done, std::int64_t total) {
  daemon::Progress p;
  p.stage = stage;
  p.done = done;
  p.total = total;
  events.progress(p);
  return may_go_on(stage, done, total);
}

void NightContext::progress(daemon::Stage stage, std::int64_t done, std::int64_t total) {
  if (!report(stage, done, total)) throw Stopped{};
}

bool NightContext::may_go_on(daemon::Stage stage, std::int64_t done, std::int64_t total) const {
  if (watch_) return !stop.load() && watch_(stage, done, total);
  const char* pause = std::getenv("MOIL_PAUSE_AT");
  if (pause != nullptr && 2 * done >= total && daemon::to_string(stage) == pause) stand_still();
  return !stop.load();
}

void NightContext::require_remembered() const {
  for (const auto* list : {&mix.train, &mix.local_validation}) {
    for (const data::MixedSample& sample : *list) {
      if (!data.is_remembered(sample))
        throw SampleForgotten("a sample was forgotten during the night");
    }
  }
}

}  // namespace moil::night
