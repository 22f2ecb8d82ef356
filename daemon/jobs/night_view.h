// What is known of nights, past, present and to come, for those who tell of it: the status, the
// overview, the doctor, the figures. References alone. Loop thread only.
#pragma once

#include "daemon/jobs/recurring.h"
#include "daemon/jobs/scheduler.h"
#include "daemon/state/model_store.h"

namespace moil::daemon {

struct NightView {
  const Config& config;
  const World& world;
  Database& database;
  const ModelStore& models;
  const JobStore& jobs;
  const ScheduleStore& schedules;
  const Scheduler& scheduler;
  const Recurring& recurring;
};

}  // namespace moil::daemon
