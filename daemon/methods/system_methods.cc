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
          {"temperature_c", or_null(device.temperature_c)}};
}

Json status(Service& s, const Call& call) {
  (void)read_fields<NoParams>(call.params, "the parameters of system.status");
  const Verdict verdict = s.scheduler.verdict();
  return {{"version", kVersion},
          {"pid", ::getpid()},
          {"uptime_seconds", (s.world.now_milliseconds() - s.started_at) / 1000},
          {"state_dir", s.layout.root().string()},
          {"worker", s.command.program()},
          {"clients", s.server.clients()},
          {"running", or_null(s.scheduler.running())},
          {"queued", s.jobs.count(JobState::kQueued)},
          {"window",
           {{"start", time_of_day(s.config.window.start.minute)},
            {"end", time_of_day(s.config.window.end.minute)},
            {"open", verdict.open},
            {"reason", verdict.reason}}},
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
      {"system.status", "0.1", "how the daemon and the device are", Where::kLoop,
       [&s](Call& call) { return status(s, call); }, nullptr},
      {"system.methods", "0.1", "the methods of this daemon", Where::kLoop,
       [&s](Call& call) { return methods(s, call); }, nullptr},
  };
}

}  // namespace moil::daemon
