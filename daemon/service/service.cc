#include "daemon/service/service.h"

#include "base/files/file.h"
#include "daemon/log/log.h"
#include "daemon/state/restored_state.h"
#include "daemon/state/trash.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

Database open_database(const StateLayout& layout) {
  put_restored_in_place(layout);
  make_private_folder(layout.models());
  make_private_folder(layout.packs());
  make_private_folder(layout.jobs());
  Database database(layout.database(), Database::Access::kReadWrite);
  prepare_database(database);
  return database;
}

// A worker that copied one is no more.
void remove_incoming_packs(const StateLayout& layout) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(layout.packs(), error))
    if (entry.path().filename().native().starts_with(StateLayout::kIncomingPrefix))
      throw_away(layout, entry.path());
}

// Jobs first: which versions are abandoned depends on which jobs go on.
void recover(JobStore& jobs, ModelStore& models) {
  jobs.recover();
  models.recover();
}

}  // namespace

Service::Service(EventLoop& loop, const Config& config, const fs::path& state,
                 const fs::path& socket, const World& world, const Methods& methods)
    : config_(config),
      loop_(loop),
      world_(world),
      counts_{world.steady_milliseconds(), world.now_milliseconds(), {}, {}, {}},
      folder_(state),
      layout_(folder_.layout()),
      lock_(layout_.lock()),
      reserve_(layout_.reserve(), static_cast<std::uint64_t>(config_.disk.reserve_bytes)),
      database_(open_database(layout_)),
      flusher_(loop_, database_, layout_.database()),
      models_(database_, layout_),
      jobs_(database_, models_),
      schedules_(database_, jobs_),
      labels_(layout_.labels(), data::LabelStore::Access::kReadWrite),
      label_reader_(layout_.labels(), data::LabelStore::Access::kReadOnly),
      label_view_(layout_.labels(), data::LabelStore::Access::kReadOnly),
      forgetting_(loop_, background_, labels_, layout_, config_, database_, flusher_, models_,
                  scheduler_, reserve_),
      watchers_(jobs_, flusher_),
      command_(config_.worker, layout_, lock_.descriptor()),
      worker_turns_(loop_),
      worker_calls_(loop_, reading_),
      importer_(worker_calls_, command_, layout_, database_, models_,
                [this] { scheduler_.bases_changed(); }),
      planner_(loop_, worker_calls_, command_, layout_, config_, models_),
      studies_(planner_, label_view_, models_),
      predictor_(worker_calls_, command_, layout_, models_),
      previewer_(reading_, label_reader_, worker_calls_, command_),
      trials_(loop_, worker_calls_, command_),
      scheduler_(
          loop_, config_, command_, layout_, world_, jobs_, label_view_, reserve_, flusher_,
          {.changed = [this](std::int64_t job) { job_changed(job); },
           .progress = [this](std::int64_t job,
                              const Json& event) { watchers_.progress(job, event); },
           .likenesses =
               [this](std::vector<data::SampleLikeness> samples) {
                 record_samples(
                     [this, samples = std::move(samples)] { labels_.record_likenesses(samples); });
               },
           .uses =
               [this](std::vector<data::Digest> samples) {
                 record_samples(
                     [this, samples = std::move(samples)] { labels_.record_uses(samples); });
               },
           .worker_ended =
               [this](const Outcome& outcome) { ++counts_.worker_ends[name_of(outcome.kind)]; },
           .finished = [this](std::int64_t) { housekeeping_.soon(); }}),
      intake_{models_, outside_, planner_, jobs_, scheduler_},
      recurring_(loop_, config_, world_, schedules_, jobs_, label_view_, outside_,
                 [this] { scheduler_.wake(); }),
      nights_{config_, world_, database_, models_, jobs_, schedules_, scheduler_, recurring_},
      housekeeping_({loop_, config_, world_, layout_, background_, database_, flusher_, models_,
                     jobs_, scheduler_, reserve_}),
      backups_(worker_calls_, command_, layout_, background_,
               [this] {
                 if (restored_) restored_();
               }),
      canaries_({loop_, config_, world_, layout_, background_, worker_calls_, command_, database_,
                 models_, jobs_, labels_, label_view_, scheduler_,
                 [this](std::int64_t job) { watchers_.changed(job); }}),
      examined_{nights_, layout_, command_, worker_calls_, outside_, background_, server_, counts_},
      measured_{nights_, layout_, labels_, background_, server_, counts_},
      limits_(config_.limits()),
      parts_({config_,     loop_,         layout_,   database_,     reserve_,    models_,
              jobs_,       schedules_,    labels_,   label_reader_, background_, outside_,
              command_,    worker_calls_, importer_, planner_,      predictor_,  previewer_,
              studies_,    trials_,       intake_,   scheduler_,    recurring_,  watchers_,
              forgetting_, housekeeping_, backups_,  nights_,       examined_,   measured_,
              counts_,     server_,       methods_}),
      methods_(methods(parts_)),
      access_(config_.access),
      dispatcher_(methods_,
                  {loop_, reading_, background_, worker_turns_,
                   [this](auto then) { flusher_.then(std::move(then)); }},
                  limits_, counts_.requests),
      server_(loop_, socket, dispatcher_, limits_, access_),
      idle_memory_(loop_, [this] { return dispatcher_.taken(); }),
      outside_(loop_, limits_.file_time),
      reading_(loop_),
      background_(loop_),
      metrics_file_(loop_, outside_, config_.metrics.textfile,
                    [this](auto done) { collect_metrics(measured_, std::move(done)); }) {
  for (const std::string& name : access_.unknown())
    log_warn("access.{}: there is no such user or group; moild looks again when it restarts", name);
  reserve_.for_record([&] { recover(jobs_, models_); });
  remove_incoming_packs(layout_);
  scheduler_.settle_found();
  forgetting_.resume();
  server_.on_drained([this](const auto& client) { watchers_.drained(client); });
  server_.on_closed([this](const auto& client) { watchers_.closed(client); });
}

void Service::job_changed(std::int64_t job) {
  watchers_.changed(job);
  const JobState state = jobs_.standing(job).state;
  if (is_finished(state)) ++counts_.nights[to_string(state)];
}

// If this fails, the night that reported it reports it again.
void Service::record_samples(std::function<void()> record) {
  background_.submit([this, record = std::move(record)]() -> Background::Done {
    try {
      reserve_.for_record(record);
    } catch (const std::exception& error) {
      log_error("what a night tells of samples cannot be recorded: {}", error.what());
    }
    return [] {};
  });
}

void Service::shut_down(std::function<void()> done) {
  scheduler_.shut_down([this, done = std::move(done)] {
    flusher_.then([done](const std::exception_ptr&) { done(); });
  });
}

std::string Service::status() const {
  const auto waiting = jobs_.count(JobState::kQueued);
  const auto running = scheduler_.running();
  const auto held = scheduler_.held();
  std::string work = running ? "job " + std::to_string(*running) + " runs" : "no job runs";
  if (running) {
    const Json progress = scheduler_.progress(*running);
    if (progress.is_object()) work += " (stage " + progress.value("stage", "") + ")";
  }
  return work + ", " + std::to_string(waiting) + " wait" + (held ? "; held: " + held->why : "");
}

}  // namespace moil::daemon
