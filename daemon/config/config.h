// moild.json: JSON with comments; every key has a default, unknown keys are errors that name the
// nearest known one and the line. config/moild.json shows all of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "daemon/json/fields.h"
#include "daemon/log/log.h"
#include "daemon/process/worker_process.h"
#include "daemon/rpc/access.h"
#include "daemon/rpc/limits.h"
#include "daemon/schedule/conditions.h"

namespace moil::daemon {

enum class ProcessorUse;

struct TimeOfDay {
  int minute = 0;
};

// A window of single days; one without (no window) has none.
struct DayWindow {
  std::optional<Window> window;
};

struct DayWindows {
  std::optional<DayWindow> mon, tue, wed, thu, fri, sat, sun;  // empty: the usual one
};

struct WindowConfig {
  TimeOfDay start{60};
  TimeOfDay end{360};
  DayWindows days;
};

struct WorkerConfig {
  std::string path;  // empty: moil-worker beside moild
  int nice = 19;
  IoClass io_class = IoClass::kIdle;
  std::optional<int> threads;   // of a job that does not say; empty: as many as CPUs
  ProcessorUse processors{};    // of a job that says "auto"
  int attempts = 3;             // a job fails when its worker died so often
  double backoff_seconds = 60;  // before the second attempt; doubles
  double stop_seconds = 30;     // from SIGTERM to SIGKILL
};

struct ServerConfig {
  std::int64_t request_bytes = 1 << 20;
  std::int64_t output_bytes = 4 << 20;
  std::int64_t reply_bytes = 16 << 20;
  int clients = 512;
  int clients_per_user = 256;
  double requests_per_second = 500;
  double request_seconds = 10;
  double output_seconds = 30;
  double file_seconds = 30;
};

struct DiskConfig {
  std::int64_t reserve_bytes = 16 << 20;      // kept for deletions on a full disk; 0: none
  std::int64_t leave_free_bytes = 256 << 20;  // if less is free, the cache takes no more
};

struct CacheConfig {
  std::int64_t quota_bytes = std::int64_t{4} << 30;  // 0: no limit
};

struct MetricsConfig {
  std::string textfile;  // for node_exporter; empty: none
};

// What is kept; empty: all of it, for good. upkeep/housekeeping.h removes the rest.
struct RetentionConfig {
  std::optional<int> versions = 5;      // of a model, beside those that are needed or pinned
  std::optional<int> days = 365;        // jobs that ended, with their events and results
  std::optional<int> failed_days = 30;  // the folder of a job that failed, to go on from
};

struct Config {
  WindowConfig window;
  Conditions conditions;
  WorkerConfig worker;
  ServerConfig server;
  AccessNames access;
  CacheConfig cache;
  DiskConfig disk;
  MetricsConfig metrics;
  RetentionConfig retention;
  double poll_seconds = 5;  // how often the conditions are looked at
  LogLevel log_level = LogLevel::kInfo;

  Nights nights() const;
  std::chrono::milliseconds poll() const;  // poll_seconds
  Limits limits() const;
};

// ValidationError with every wrong key and its line; kBadData if it is not JSON; kNotFound.
Config read_config(const std::filesystem::path& file);
Config parse_config(const std::string& text, const std::string& file);
Json to_json(const Config& config);

}  // namespace moil::daemon
