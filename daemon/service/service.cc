#include "daemon/service/service.h"

#include <sys/stat.h>

#include <cerrno>

#include "daemon/methods/methods.h"
#include "datasets/labels/sample_files.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

Database open_database(const StateLayout& layout) {
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

StateFolder::StateFolder(const fs::path& root) : layout_(fs::absolute(root)) {
  const fs::path& folder = layout_.root();
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    throw Error(ErrorCode::kFailedPrecondition,
                "the state folder " + folder.string() + " is not a folder");
  }
  fs::create_directories(folder, error);
  if (error) {
    throw Error(ErrorCode::kIo, "cannot create the state folder " + folder.string() + ": " +
                                    error.message() + "; give another --state-dir");
  }
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) {
    throw Error(ErrorCode::kIo, "the state folder " + folder.string() +
                                    " is not writable for user " + std::to_string(::geteuid()) +
                                    "; give another --state-dir");
  }
  if (::chmod(folder.c_str(), 0700) != 0) {
    throw system_error("cannot make " + folder.string() + " private", errno);
  }
  data::make_private_folder(layout_.models());
  data::make_private_folder(layout_.jobs());
}

Service::Service(EventLoop& event_loop, const Config& configuration, const fs::path& state,
                 const fs::path& socket, const World& the_world)
    : config(configuration),
      loop(event_loop),
      world(the_world),
      started_at(the_world.now_milliseconds()),
      folder(state),
      layout(folder.layout()),
      lock(layout.lock()),
      database(open_database(layout)),
      models(database, layout),
      jobs(database, models),
      labels(layout.labels(), data::LabelStore::Access::kReadWrite),
      background(loop),
      watchers(jobs),
      command(config.worker, layout, lock.descriptor()),
      worker_calls(loop),
      importer(worker_calls, command, layout, database, models),
      planner(worker_calls, command, layout, config, models),
      predictor(worker_calls, command, layout, models),
      scheduler(loop, config, command, layout, world, jobs,
                {.changed = [this](std::int64_t job) { watchers.changed(job); },
                 .progress = [this](std::int64_t job,
                                    const Json& event) { watchers.progress(job, event); }}),
      limits(config.limits()),
      methods(all_methods(*this)),
      dispatcher(methods, background, limits),
      server(loop, socket, dispatcher, limits) {
  recover(jobs, models);
  server.on_drained([this](const auto& client) { watchers.drained(client); });
  server.on_closed([this](const auto& client) { watchers.closed(client); });
}

void Service::shut_down(std::function<void()> done) { scheduler.shut_down(std::move(done)); }

std::string Service::status() const {
  const auto waiting = jobs.count(JobState::kQueued);
  const auto running = scheduler.running();
  return (running ? "job " + std::to_string(*running) + " runs" : std::string("no job runs")) +
         ", " + std::to_string(waiting) + " wait";
}

}  // namespace moil::daemon
