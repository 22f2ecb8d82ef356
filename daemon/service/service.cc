#include "daemon/service/service.h"

#include "base/files/file.h"
#include "daemon/log/log.h"
#include "daemon/state/trash.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

Database open_database(const StateLayout& layout) {
  make_private_folder(layout.models());
  make_private_folder(layout.jobs());
  Database database(layout.database(), Database::Access::kReadWrite);
  prepare_database(database);
  return database;
}

// Jobs first: which versions are abandoned depends on which jobs go on.
void recover(JobStore& jobs, ModelStore& models) {
  jobs.recover();
  models.recover();
}

}  // namespace

Service::Service(EventLoop& event_loop, const Config& configuration, const fs::path& state,
                 const fs::path& socket, const World& the_world, const Faces& faces)
    : config(configuration),
      loop(event_loop),
      world(the_world),
      started_at(the_world.steady_milliseconds()),
      started_on(the_world.now_milliseconds()),
      folder(state),
      layout(folder.layout()),
      lock(layout.lock()),
      reserve(layout.reserve(), static_cast<std::uint64_t>(config.disk.reserve_bytes)),
      database(open_database(layout)),
      flusher(loop, database, layout.database()),
      models(database, layout),
      jobs(database, models),
      schedules(database, jobs),
      labels(layout.labels(), data::LabelStore::Access::kReadWrite),
      label_reader(layout.labels(), data::LabelStore::Access::kReadOnly),
      label_view(layout.labels(), data::LabelStore::Access::kReadOnly),
      forgetting(loop, background, labels, layout, config, database, flusher, models, scheduler,
                 reserve),
      watchers(jobs, flusher),
      command(config.worker, layout, lock.descriptor()),
      worker_turns(loop),
      worker_calls(loop, reading),
      importer(worker_calls, command, layout, database, models,
               [this] { scheduler.bases_changed(); }),
      planner(loop, worker_calls, command, layout, config, models),
      predictor(worker_calls, command, layout, models),
      previewer(reading, label_reader, worker_calls, command),
      scheduler(
          loop, config, command, layout, world, jobs, label_view, reserve, flusher,
          {.changed = [this](std::int64_t job) { job_changed(job); },
           .progress = [this](std::int64_t job,
                              const Json& event) { watchers.progress(job, event); },
           .likenesses =
               [this](std::vector<data::SampleLikeness> samples) {
                 record_samples(
                     [this, samples = std::move(samples)] { labels.record_likenesses(samples); });
               },
           .uses =
               [this](std::vector<data::Digest> samples) {
                 record_samples(
                     [this, samples = std::move(samples)] { labels.record_uses(samples); });
               },
           .worker_ended =
               [this](const Outcome& outcome) { ++counts.worker_ends[name_of(outcome.kind)]; },
           .finished = [this](std::int64_t) { housekeeping.soon(); }}),
      recurring(loop, config, world, schedules, jobs, label_view, outside,
                [this] { scheduler.wake(); }),
      housekeeping({loop, config, world, layout, background, database, flusher, models, jobs,
                    scheduler, reserve}),
      canaries({loop, config, world, layout, background, worker_calls, command, database, models,
                jobs, labels, label_view, scheduler,
                [this](std::int64_t job) { watchers.changed(job); }}),
      limits(config.limits()),
      methods(faces.methods(*this)),
      access(config.access),
      dispatcher(methods,
                 {loop, reading, background, worker_turns,
                  [this](auto then) { flusher.then(std::move(then)); }},
                 limits, counts.requests),
      server(loop, socket, dispatcher, limits, access),
      idle_memory(loop, [this] { return dispatcher.taken(); }),
      outside(loop, limits.file_time),
      reading(loop),
      background(loop),
      metrics_file(
          loop, outside, config.metrics.textfile,
          [this, collect = faces.metrics](auto done) { collect(*this, std::move(done)); }) {
  for (const std::string& name : access.unknown())
    log_warn("access.{}: there is no such user or group; moild looks again when it restarts", name);
  reserve.for_record([&] { recover(jobs, models); });
  scheduler.settle_found();
  forgetting.resume();
  server.on_drained([this](const auto& client) { watchers.drained(client); });
  server.on_closed([this](const auto& client) { watchers.closed(client); });
}

void Service::job_changed(std::int64_t job) {
  watchers.changed(job);
  const JobState state = jobs.standing(job).state;
  if (is_finished(state)) ++counts.nights[to_string(state)];
}

// Where this fails, the night that told it tells it again.
void Service::record_samples(std::function<void()> record) {
  background.submit([this, record = std::move(record)]() -> Background::Done {
    try {
      reserve.for_record(record);
    } catch (const std::exception& error) {
      log_error("what a night tells of samples cannot be recorded: {}", error.what());
    }
    return [] {};
  });
}

void Service::empty_trash(const Responder& responder, Json reply) {
  answer_in_background(background, responder, [this, reply = std::move(reply)] {
    daemon::empty_trash(layout);
    return reply;
  });
}

void Service::shut_down(std::function<void()> done) {
  scheduler.shut_down([this, done = std::move(done)] {
    flusher.then([done](const std::exception_ptr&) { done(); });
  });
}

std::string Service::status() const {
  const auto waiting = jobs.count(JobState::kQueued);
  const auto running = scheduler.running();
  const auto held = scheduler.held();
  std::string work = running ? "job " + std::to_string(*running) + " runs" : "no job runs";
  if (running) {
    const Json progress = scheduler.progress(*running);
    if (progress.is_object()) work += " (stage " + progress.value("stage", "") + ")";
  }
  return work + ", " + std::to_string(waiting) + " wait" + (held ? "; held: " + held->why : "");
}

}  // namespace moil::daemon
