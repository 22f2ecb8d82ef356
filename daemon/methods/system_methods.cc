// system.status, system.overview, system.metrics, system.doctor, system.methods
#include <unistd.h>

#include "base/version.h"
#include "daemon/doctor/doctor.h"
#include "daemon/doctor/overview.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/no_params.h"
#include "daemon/metrics/metrics.h"
#include "daemon/state/withdrawals.h"

namespace moil::daemon {
namespace {

Json device_json(const DeviceReading& device) {
  return {{"on_mains", or_null(device.on_mains)},
          {"battery", or_null(device.battery)},
          {"load_per_cpu", or_null(device.load_per_cpu)},
          {"temperature_c", or_null(device.temperature_c)},
          {"memory_pressure", or_null(device.memory_pressure)},
          {"io_pressure", or_null(device.io_pressure)},
          {"user_idle_minutes", or_null(device.user_idle_minutes)},
          {"ignored", device.ignored}};
}

Json held_json(const std::optional<QueueHold::Told>& held) {
  if (!held) return nullptr;
  return {{"reason", held->why},
          {"since", utc_text(held->since)},
          {"seconds", held->seconds},
          {"retry_seconds", held->retry_seconds}};
}

Json waited_json(const std::map<Obstacle, Waited>& waited) {
  Json list = Json::array();
  for (const auto& [obstacle, wait] : waited) {
    list.push_back({{"for", name_of(obstacle)},
                    {"seconds", static_cast<double>(wait.milliseconds) / 1000},
                    {"nearest", or_null(wait.nearest)},
                    {"allowed", or_null(wait.allowed)}});
  }
  return list;
}

Json lost_cause_json(const LostNights& lost) {
  return lost.cause() == Obstacle::kNone ? Json(nullptr) : Json(name_of(lost.cause()));
}

Json cpus_json(const std::optional<Scheduler::Cpus>& cpus) {
  if (!cpus) return nullptr;
  return {{"used", cpus->used}, {"all", cpus->all}};
}

Json window_json(const NightView& s, const DeviceReading& device) {
  const Window window = night_window(s);
  const auto opens = opens_at(s.config.nights(), s.world);
  const Verdict verdict = s.scheduler.verdict(device);
  return {{"start", time_of_day(window.start)},
          {"end", time_of_day(window.end)},
          {"open", verdict.open},
          {"reason", verdict.reason},
          {"obstacle", verdict.open ? Json(nullptr) : Json(name_of(verdict.obstacle))},
          {"next_at", opens ? Json(utc_text(*opens)) : Json(nullptr)},
          {"waited", waited_json(s.scheduler.waited())},
          {"nights_waited", s.scheduler.lost_nights().count},
          {"nights_waited_for", lost_cause_json(s.scheduler.lost_nights())}};
}

// What canaries rolled back in the last month.
Json rolled_back_json(const NightView& s) {
  constexpr int kMost = 5;
  constexpr std::int64_t kMonth = std::int64_t{30} * 24 * 3600 * 1000;
  Json list = Json::array();
  for (const auto& recent : Withdrawals(s.database).by_canaries(kMost)) {
    if (recent.withdrawal.at < s.world.now_milliseconds() - kMonth) continue;
    list.push_back({{"model", recent.model},
                    {"version", recent.version},
                    {"at", utc_text(recent.withdrawal.at)},
                    {"why", recent.withdrawal.why}});
  }
  return list;
}

Json status(const NoParams&, const NightView& s, const Counts& counts, const StateLayout& layout,
            const WorkerCommand& command, const Server& server) {
  const DeviceReading device = s.world.device();
  return {{"version", kVersion},
          {"pid", ::getpid()},
          {"uptime_seconds", (s.world.steady_milliseconds() - counts.started_at) / 1000},
          {"state_dir", layout.root().string()},
          {"worker", command.program()},
          {"clients", server.clients()},
          {"running", or_null(s.scheduler.running())},
          {"queued", s.jobs.count(JobState::kQueued)},
          {"held", held_json(s.scheduler.held())},
          {"rolled_back", rolled_back_json(s)},
          {"window", window_json(s, device)},
          {"cpus", cpus_json(s.scheduler.cpus())},
          {"device", device_json(device)}};
}

Json methods(const NoParams&, const Call& call, const MethodTable& table) {
  Json list = Json::array();
  for (const Method& method : table) {
    list.push_back({{"name", method.name},
                    {"since", method.since},
                    {"role", to_string(method.role)},
                    {"summary", method.summary},
                    {"params", method.run.params()},
                    {"descriptors", method.descriptors}});
  }
  const auto client = call.client.lock();
  const Json role = client ? Json(to_string(client->caller().role)) : Json(nullptr);
  return {{"version", kVersion}, {"role", role}, {"methods", std::move(list)}};
}

void tell_metrics(const NoParams&, const Responder& responder, const Measured& measured) {
  collect_metrics(measured, [responder](std::string text) {
    responder.result({{"content_type", "text/plain; version=0.0.4"}, {"text", std::move(text)}});
  });
}

Json tell_overview(const NoParams&, const NightView& nights) { return overview(nights); }

void tell_doctor(const NoParams&, const Responder& responder, const Examined& examined) {
  examine(examined, responder);
}

}  // namespace

MethodTable system_methods(const Parts& by) {
  using Lane = Method::Lane;
  return {
      {"system.status", "0.1", Role::kRead, "how the daemon and the device are", Lane::kLoop,
       by(status)},
      {"system.overview", "0.2", Role::kRead, "what runs, waits, was and comes", Lane::kLoop,
       by(tell_overview)},
      {"system.metrics", "0.2", Role::kRead, "figures for Prometheus", Lane::kSteps,
       by(tell_metrics)},
      {"system.doctor", "0.2", Role::kOperate, "what is wrong, and what to do about it",
       Lane::kWorker, by(tell_doctor), std::chrono::minutes(5)},
      {"system.methods", "0.1", Role::kRead, "the methods of this daemon", Lane::kLoop,
       by(methods)},
  };
}

}  // namespace moil::daemon
