// system.status, system.methods
#include <unistd.h>

#include "base/version.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/no_params.h"
#include "daemon/service/service.h"

namespace moil::daemon {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json device_json(const DeviceReading& device) {
  return {{"on_mains", or_null(device.on_mains)},
          {"battery", or_null(device.battery)},
          {"load_per_cpu", or_null(device.load_per_cpu)},
          {"temperature_c", or_null(device.temperature_c)},
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

Json status(Service& s, const Call& call) {
  (void)read_fields<NoParams>(call.params, "the parameters of system.status");
  const Verdict verdict = s.scheduler.verdict();
  return {{"version", kVersion},
          {"pid", ::getpid()},
          {"uptime_seconds", (s.world.steady_milliseconds() - s.started_at) / 1000},
          {"state_dir", s.layout.root().string()},
          {"worker", s.command.program()},
          {"clients", s.server.clients()},
          {"running", or_null(s.scheduler.running())},
          {"queued", s.jobs.count(JobState::kQueued)},
          {"held", held_json(s.scheduler.held())},
          {"window",
           {{"start", time_of_day(s.config.window.start.minute)},
            {"end", time_of_day(s.config.window.end.minute)},
            {"open", verdict.open},
            {"reason", verdict.reason},
            {"waited", waited_json(s.scheduler.waited())}}},
          {"device", device_json(s.world.device())}};
}

Json methods(const Service& s, const Call& call) {
  (void)read_fields<NoParams>(call.params, "the parameters of system.methods");
  Json list = Json::array();
  for (const Method& method : s.methods) {
    list.push_back({{"name", method.name}, {"since", method.since}, {"summary", method.summary}});
  }
  return {{"version", kVersion}, {"methods", std::move(list)}};
}

}  // namespace

MethodTable system_methods(Service& s) {
  using Where = Method::Where;
  return {
      {"system.status", "0.1", Role::kRead, "how the daemon and the device are", Where::kLoop,
       [&s](Call& call) { return status(s, call); }, nullptr},
      {"system.methods", "0.1", Role::kRead, "the methods of this daemon", Where::kLoop,
       [&s](Call& call) { return methods(s, call); }, nullptr},
  };
}

}  // namespace moil::daemon
