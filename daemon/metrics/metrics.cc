#include "daemon/metrics/metrics.h"

#include <dirent.h>
#include <sys/resource.h>

#include <filesystem>

#include "base/process_memory.h"
#include "base/version.h"
#include "daemon/log/log.h"
#include "daemon/metrics/prometheus_text.h"
#include "daemon/state/disk_usage.h"
#include "daemon/state/night_records.h"
#include "daemon/upkeep/cache_access.h"

namespace moil::daemon {
namespace {

using Type = PrometheusText::Type;

constexpr double kMillisecondSeconds = 1e-3, kMicrosecondSeconds = 1e-6;

double number(bool yes) { return yes ? 1 : 0; }

template <class T>
void known(PrometheusText& out, const char* name, const char* help, const std::optional<T>& value) {
  if (value) out.single(name, Type::kGauge, help, static_cast<double>(*value));
}

void add_process(PrometheusText& out, std::int64_t started_on) {
  out.family("moild_build_info", Type::kGauge, "The version that runs; always 1.");
  out.sample(1, {{"version", kVersion}});
  out.single("process_start_time_seconds", Type::kGauge,
             "When moild was started, in seconds since 1970.",
             static_cast<double>(started_on) * kMillisecondSeconds);
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) * kMicrosecondSeconds;
  };
  out.single("process_cpu_seconds_total", Type::kCounter,
             "CPU time that moild itself took, without its workers.",
             seconds(used.ru_utime) + seconds(used.ru_stime));
  out.single("process_resident_memory_bytes", Type::kGauge, "Memory that moild itself holds.",
             static_cast<double>(resident_memory().bytes));
  std::error_code error;
  const auto files = std::filesystem::directory_iterator("/proc/self/fd", error);
  if (!error)
    out.single("process_open_fds", Type::kGauge, "Descriptors that are open.",
               static_cast<double>(std::distance(begin(files), end(files))));
}

void add_requests(PrometheusText& out, const Server& server, const RequestCounts& requests) {
  out.single("moild_clients", Type::kGauge, "Clients that are connected.",
             static_cast<double>(server.clients()));
  out.family("moild_request_duration_seconds", Type::kSummary,
             "Time from a request's start to its answer, by method.");
  for (const auto& [method, count] : requests) {
    out.sample(count.seconds, {{"method", method}}, "_sum");
    out.sample(static_cast<double>(count.answered), {{"method", method}}, "_count");
  }
  out.family("moild_request_errors_total", Type::kCounter,
             "Requests that were answered with an error, by method and data.code.");
  for (const auto& [method, count] : requests) {
    for (const auto& [code, times] : count.errors)
      out.sample(static_cast<double>(times), {{"method", method}, {"code", code}});
  }
}

void add_jobs(PrometheusText& out, const Counts& counted, const NightRecords& records) {
  out.family("moild_jobs", Type::kGauge, "Jobs that moild knows, by state.");
  for (const auto& [state, count] : records.counts())
    out.sample(static_cast<double>(count), {{"state", to_string(state)}});
  out.family("moild_nights_total", Type::kCounter,
             "Jobs that ended since moild was started, by the state in which they did.");
  for (const char* state : {"succeeded", "failed", "cancelled", "rejected-by-guard"}) {
    const auto found = counted.nights.find(state);
    out.sample(found == counted.nights.end() ? 0 : static_cast<double>(found->second),
               {{"outcome", state}});
  }
  out.family("moild_worker_ends_total", Type::kCounter,
             "Workers of jobs that ended since moild was started, by how they did.");
  for (const auto how : {Outcome::Kind::kResult, Outcome::Kind::kStopped, Outcome::Kind::kRefused,
                         Outcome::Kind::kNoRoom, Outcome::Kind::kNoStart, Outcome::Kind::kDied}) {
    const auto found = counted.worker_ends.find(name_of(how));
    out.sample(found == counted.worker_ends.end() ? 0 : static_cast<double>(found->second),
               {{"how", name_of(how)}});
  }
}

void add_queue(PrometheusText& out, const NightView& s, const DeviceReading& device) {
  const auto held = s.scheduler.held();
  out.single("moild_queue_held", Type::kGauge,
             "1 while nothing can be started for a cause that lies in the device.",
             number(held.has_value()));
  out.single("moild_queue_held_seconds", Type::kGauge, "How long that has been so.",
             held ? held->seconds : 0);
  out.single("moild_window_open", Type::kGauge, "1 while a job may run that waits for the night.",
             number(s.scheduler.verdict(device).open));
  out.family("moild_waited_seconds", Type::kGauge,
             "How long jobs have waited in this night, by what they waited for.");
  for (const auto& [obstacle, waited] : s.scheduler.waited())
    out.sample(static_cast<double>(waited.milliseconds) * kMillisecondSeconds,
               {{"for", name_of(obstacle)}});
  out.family("moild_schedule_next_timestamp_seconds", Type::kGauge,
             "When a schedule next comes, in seconds since 1970.");
  const Recurring::Openings openings = s.recurring.openings();
  for (const Schedule& schedule : s.schedules.all()) {
    if (const auto next = s.recurring.next(schedule, openings))
      out.sample(static_cast<double>(*next) * kMillisecondSeconds,
                 {{"schedule", schedule.spec.name}});
  }
}

// One figure of every model's last night.
void add_figure(PrometheusText& out, const std::vector<NightRecord>& nights, const char* name,
                const char* help, const char* member) {
  out.family(name, Type::kGauge, help);
  for (const NightRecord& night : nights) {
    const auto it = night.result.find(member);
    if (it != night.result.end() && it->is_number())
      out.sample(it->get<double>(), {{"model", night.model}});
  }
}

void add_qualities(PrometheusText& out, const std::vector<NightRecord>& nights) {
  out.family("moild_last_night_quality", Type::kGauge,
             "What the last night measured on held-out samples, in the metric of the model's task: "
             "of global or local ones, before and after. Agreement is that of global ones whose "
             "labels are the model's own answers.");
  for (const NightRecord& night : nights) {
    const std::string of_local = night.result.value("metric", "accuracy");
    for (const std::string data : {"global", "local"}) {
      const std::string metric =
          data == "local" ? of_local : night.result.value("global_metric", of_local);
      for (const char* when : {"before", "after"}) {
        const auto it = night.result.find(data + "_" + when);
        if (it == night.result.end() || !it->is_number()) continue;
        out.sample(it->get<double>(),
                   {{"model", night.model}, {"metric", metric}, {"data", data}, {"when", when}});
      }
    }
  }
}

void add_nights(PrometheusText& out, const std::vector<NightRecord>& nights) {
  add_figure(out, nights, "moild_last_night_duration_seconds",
             "How long the last night of a model took, all attempts together.", "seconds");
  out.family("moild_last_night_end_timestamp_seconds", Type::kGauge,
             "When the last night of a model ended, in seconds since 1970.");
  for (const NightRecord& night : nights)
    out.sample(static_cast<double>(night.finished_at) * kMillisecondSeconds,
               {{"model", night.model}});
  out.family("moild_last_night_promoted", Type::kGauge,
             "1 where the last night of a model brought a new version.");
  for (const NightRecord& night : nights)
    out.sample(number(night.state == JobState::kSucceeded), {{"model", night.model}});
  add_qualities(out, nights);
  out.family("moild_last_night_feature_maps", Type::kGauge,
             "Feature maps of the last night of a model: found in the cache, or computed.");
  for (const NightRecord& night : nights) {
    if (night.maps_reused)
      out.sample(static_cast<double>(*night.maps_reused),
                 {{"model", night.model}, {"from", "cache"}});
    if (night.maps_computed)
      out.sample(static_cast<double>(*night.maps_computed),
                 {{"model", night.model}, {"from", "computed"}});
  }
}

void add_models(PrometheusText& out, const ModelStore& models) {
  std::map<std::string, std::int64_t> versions, active;
  for (const ModelVersion& version : models.list()) {
    ++versions[version.model];
    if (version.active) active[version.model] = version.version;
  }
  out.family("moild_model_versions", Type::kGauge, "Versions of a model that are kept.");
  for (const auto& [model, count] : versions)
    out.sample(static_cast<double>(count), {{"model", model}});
  out.family("moild_model_active_version", Type::kGauge, "The version that is in service.");
  for (const auto& [model, version] : active)
    out.sample(static_cast<double>(version), {{"model", model}});
}

void add_device(PrometheusText& out, const DeviceReading& device) {
  known(out, "moild_device_on_mains", "1 where the device is fed from outside.", device.on_mains);
  known(out, "moild_device_battery_ratio", "How full the battery is, 0 to 1.", device.battery);
  known(out, "moild_device_load_ratio",
        "The share of the CPUs' time in the last minute that others took, 0 to 1.",
        device.load_per_cpu);
  known(out, "moild_device_temperature_celsius",
        "The temperature of the hottest thermal zone that can be believed.", device.temperature_c);
}

// --- in the background --------------------------------------------------------------------------

void add_cache(PrometheusText& out, const StateLayout& layout, std::int64_t quota) {
  cache::CacheStats stats;
  bool is_usable = true;
  try {
    if (std::filesystem::exists(layout.cache())) stats = open_cache(layout, quota).stats();
  } catch (const Error&) {
    is_usable = false;
  }
  out.single("moild_cache_usable", Type::kGauge, "1 where the cache of feature maps can be opened.",
             number(is_usable));
  out.single("moild_cache_entries", Type::kGauge, "Feature maps that the cache holds.",
             static_cast<double>(stats.entries));
  out.single("moild_cache_bytes", Type::kGauge, "Bytes of them, which the quota limits.",
             static_cast<double>(stats.bytes));
  out.single("moild_cache_quota_bytes", Type::kGauge, "The quota; 0: none.",
             static_cast<double>(quota));
}

void add_files(PrometheusText& out, const data::LabelStore& labels, const StateLayout& layout,
               std::int64_t quota) {
  const data::StoreCounts counts = labels.counts();
  out.single("moild_labels", Type::kGauge, "Labels that the user made.",
             static_cast<double>(counts.labels));
  out.single("moild_samples", Type::kGauge, "Samples that the user labelled.",
             static_cast<double>(counts.samples));
  add_cache(out, layout, quota);
  out.family("moild_disk_bytes", Type::kGauge, "What the state folder takes of the disk, by part.");
  for (const auto& [part, bytes] : disk_usage(layout))
    out.sample(static_cast<double>(bytes), {{"part", part}});
  known(out, "moild_disk_free_bytes", "Room where the state folder lies.",
        free_disk_bytes(layout.root()));
}

}  // namespace

void collect_metrics(const Measured& measured, std::function<void(std::string text)> done) {
  auto out = std::make_shared<PrometheusText>();
  const NightRecords records(measured.nights.database);
  const DeviceReading device = measured.nights.world.device();
  add_process(*out, measured.counts.started_on);
  add_requests(*out, measured.server, measured.counts.requests);
  add_jobs(*out, measured.counts, records);
  add_queue(*out, measured.nights, device);
  add_nights(*out, records.last_by_model());
  add_models(*out, measured.nights.models);
  add_device(*out, device);
  measured.background.submit([&measured, out, done = std::move(done)]() -> Background::Done {
    try {
      add_files(*out, measured.labels, measured.layout, measured.nights.config.cache.quota_bytes);
    } catch (const std::exception& error) {
      log_warn("some metrics are missing: {}", error.what());
    }
    return [out, done] { done(out->text()); };
  });
}

}  // namespace moil::daemon
