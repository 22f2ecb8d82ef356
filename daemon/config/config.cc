#include "daemon/config/config.h"

#include <cmath>

#include "base/durations.h"
#include "base/files/file.h"
#include "daemon/json/parse.h"
#include "daemon/spec/job_spec.h"

namespace moil::daemon {
namespace {

constexpr int kConfigNesting = 16;
constexpr double kDaySeconds = 86400;

}  // namespace

EnumNames<IoClass> enum_names(IoClass) {
  return {
      {IoClass::kNone, "none"}, {IoClass::kBestEffort, "best-effort"}, {IoClass::kIdle, "idle"}};
}

EnumNames<LogLevel> enum_names(LogLevel) {
  return {{LogLevel::kDebug, "debug"},
          {LogLevel::kInfo, "info"},
          {LogLevel::kWarning, "warning"},
          {LogLevel::kError, "error"}};
}

namespace fields_internal {

namespace {

void read_time(const Json& v, TimeOfDay& out, const std::string& at, FieldErrors& errors) {
  const auto minute = v.is_string() ? parse_time_of_day(v.get<std::string>()) : std::nullopt;
  if (!minute) return wrong_type("a time of day like \"01:30\"", v, at, errors);
  out.minute = *minute;
}

Json write_time(const TimeOfDay& v) { return time_of_day(v.minute); }

void read_window(const Json& v, DayWindow& out, const std::string& at, FieldErrors& errors) {
  if (v == "none") return out.window.reset();
  out.window = v.is_string() ? parse_window(v.get<std::string>()) : std::nullopt;
  if (!out.window) wrong_type("a window like \"01:00-06:00\", or \"none\"", v, at, errors);
}

Json write_window(const DayWindow& v) { return v.window ? v.window->text() : "none"; }

}  // namespace

template <>
const Codec& codec_of<TimeOfDay>() {
  static const OwnCodec<TimeOfDay> codec(read_time, write_time);
  return codec;
}

template <>
const Codec& codec_of<DayWindow>() {
  static const OwnCodec<DayWindow> codec(read_window, write_window);
  return codec;
}

}  // namespace fields_internal

const Fields<DayWindows>& fields_of(const DayWindows*) {
  static const Fields<DayWindows> table = {
      field("mon", &DayWindows::mon), field("tue", &DayWindows::tue),
      field("wed", &DayWindows::wed), field("thu", &DayWindows::thu),
      field("fri", &DayWindows::fri), field("sat", &DayWindows::sat),
      field("sun", &DayWindows::sun),
  };
  return table;
}

const Fields<WindowConfig>& fields_of(const WindowConfig*) {
  static const Fields<WindowConfig> table = {
      field("start", &WindowConfig::start),
      field("end", &WindowConfig::end),
      field("days", &WindowConfig::days),
  };
  return table;
}

const Fields<Conditions>& fields_of(const Conditions*) {
  static const Fields<Conditions> table = {
      field("need_mains", &Conditions::need_mains),
      field("min_battery", &Conditions::min_battery, Need::kOptional, between(0.0, 1.0)),
      field("max_load_per_cpu", &Conditions::max_load_per_cpu, Need::kOptional,
            between(0.0, 1000.0)),
      field("max_memory_pressure", &Conditions::max_memory_pressure, Need::kOptional,
            between(0.0, 1.0)),
      field("max_io_pressure", &Conditions::max_io_pressure, Need::kOptional, between(0.0, 1.0)),
      field("max_temperature_c", &Conditions::max_temperature_c, Need::kOptional,
            between(0.0, 200.0)),
      field("user_idle_minutes", &Conditions::user_idle_minutes, Need::kOptional,
            between(0.0, 1440.0)),
  };
  return table;
}

const Fields<WorkerConfig>& fields_of(const WorkerConfig*) {
  static const Fields<WorkerConfig> table = {
      field("path", &WorkerConfig::path),
      field("nice", &WorkerConfig::nice, Need::kOptional, between(0, 19)),
      field("io_class", &WorkerConfig::io_class),
      field("threads", &WorkerConfig::threads, Need::kOptional, between(1, 1024)),
      field("processors", &WorkerConfig::processors),
      field("attempts", &WorkerConfig::attempts, Need::kOptional, between(1, 100)),
      field("backoff_seconds", &WorkerConfig::backoff_seconds, Need::kOptional,
            between(0.0, kDaySeconds)),
      field("stop_seconds", &WorkerConfig::stop_seconds, Need::kOptional,
            between(0.0, kDaySeconds)),
  };
  return table;
}

const Fields<ServerConfig>& fields_of(const ServerConfig*) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  static const Fields<ServerConfig> table = {
      field("request_bytes", &ServerConfig::request_bytes, Need::kOptional,
            between(std::int64_t{1024}, kMost)),
      field("output_bytes", &ServerConfig::output_bytes, Need::kOptional,
            between(std::int64_t{1024}, kMost)),
      field("reply_bytes", &ServerConfig::reply_bytes, Need::kOptional,
            between(std::int64_t{1} << 20, kMost)),
      field("clients", &ServerConfig::clients, Need::kOptional, between(1, 10000)),
      field("clients_per_user", &ServerConfig::clients_per_user, Need::kOptional,
            between(1, 10000)),
      field("requests_per_second", &ServerConfig::requests_per_second, Need::kOptional,
            between(1.0, 1e6)),
      field("request_seconds", &ServerConfig::request_seconds, Need::kOptional,
            between(0.01, kDaySeconds)),
      field("output_seconds", &ServerConfig::output_seconds, Need::kOptional,
            between(0.01, kDaySeconds)),
      field("file_seconds", &ServerConfig::file_seconds, Need::kOptional,
            between(0.01, kDaySeconds)),
  };
  return table;
}

std::optional<std::string> check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string bare = name.starts_with('@') ? name.substr(1) : name;
    if (bare.empty() || bare.find_first_of(" :@,/\t\n") != std::string::npos)
      return "expected users like \"anna\" and groups like \"@video\", found \"" + name + "\"";
  }
  return std::nullopt;
}

const Fields<AccessNames>& fields_of(const AccessNames*) {
  static const Fields<AccessNames> table = {
      field("read", &AccessNames::read, Need::kOptional, check_names),
      field("label", &AccessNames::label, Need::kOptional, check_names),
      field("operate", &AccessNames::operate, Need::kOptional, check_names),
      field("admin", &AccessNames::admin, Need::kOptional, check_names),
  };
  return table;
}

const Fields<CacheConfig>& fields_of(const CacheConfig*) {
  static const Fields<CacheConfig> table = {
      field("quota_bytes", &CacheConfig::quota_bytes, Need::kOptional,
            between(std::int64_t{0}, std::int64_t{1} << 50)),
  };
  return table;
}

const Fields<DiskConfig>& fields_of(const DiskConfig*) {
  static const Fields<DiskConfig> table = {
      field("reserve_bytes", &DiskConfig::reserve_bytes, Need::kOptional,
            between(std::int64_t{0}, std::int64_t{1} << 30)),
      field("leave_free_bytes", &DiskConfig::leave_free_bytes, Need::kOptional,
            between(std::int64_t{0}, std::int64_t{1} << 50)),
  };
  return table;
}

const Fields<RetentionConfig>& fields_of(const RetentionConfig*) {
  constexpr int kCentury = 36500;
  static const Fields<RetentionConfig> table = {
      field("versions", &RetentionConfig::versions, Need::kOptional, between(1, 100000)),
      field("days", &RetentionConfig::days, Need::kOptional, between(1, kCentury)),
      field("failed_days", &RetentionConfig::failed_days, Need::kOptional, between(1, kCentury)),
  };
  return table;
}

namespace {

Nights nights_of(const WindowConfig& config) {
  Nights nights(Window{config.start.minute, config.end.minute});
  const DayWindows& days = config.days;
  int weekday = 0;
  for (const auto* day :
       {&days.sun, &days.mon, &days.tue, &days.wed, &days.thu, &days.fri, &days.sat}) {
    if (*day) nights.set(weekday, (*day)->window);
    ++weekday;
  }
  return nights;
}

FieldErrors check_window(const WindowConfig& config) {
  if (nights_of(config).next({})) return {};
  return {{"/days", "no day is left with a window: a job would wait for ever; leave one out"}};
}

}  // namespace

const Fields<MetricsConfig>& fields_of(const MetricsConfig*) {
  // node_exporter reads what ends so, and nothing else.
  const Check<std::string> check = [](const std::string& file) -> std::optional<std::string> {
    if (file.empty() || (file.starts_with("/") && file.ends_with(".prom"))) return std::nullopt;
    return "expected an absolute path that ends in \".prom\", or \"\" for no file, found \"" +
           file + "\"";
  };
  static const Fields<MetricsConfig> table = {
      field("textfile", &MetricsConfig::textfile, Need::kOptional, check),
  };
  return table;
}

const Fields<Config>& fields_of(const Config*) {
  static const Fields<Config> table = {
      field("window", &Config::window, Need::kOptional, check_window),
      field("conditions", &Config::conditions),
      field("worker", &Config::worker),
      field("server", &Config::server),
      field("access", &Config::access),
      field("cache", &Config::cache),
      field("disk", &Config::disk),
      field("metrics", &Config::metrics),
      field("retention", &Config::retention),
      field("poll_seconds", &Config::poll_seconds, Need::kOptional, between(0.01, 3600.0)),
      field("log_level", &Config::log_level),
  };
  return table;
}

Nights Config::nights() const { return nights_of(window); }

std::chrono::milliseconds Config::poll() const { return milliseconds(poll_seconds); }

Limits Config::limits() const {
  Limits limits;
  limits.request_bytes = static_cast<std::size_t>(server.request_bytes);
  limits.output_bytes = static_cast<std::size_t>(server.output_bytes);
  limits.clients = static_cast<std::size_t>(server.clients);
  limits.clients_per_user = static_cast<std::size_t>(server.clients_per_user);
  limits.requests_per_second = server.requests_per_second;
  limits.request_time = milliseconds(server.request_seconds);
  limits.output_time = milliseconds(server.output_seconds);
  limits.reply_bytes = static_cast<std::size_t>(server.reply_bytes);
  limits.file_time = milliseconds(server.file_seconds);
  return limits;
}

Config read_config(const std::filesystem::path& file) {
  return parse_config(read_text(file, 1 << 20), file.string());
}

Config parse_config(const std::string& text, const std::string& file) {
  Json document;
  try {
    document = parse_json(text, kConfigNesting, Comments::kAllowed);
  } catch (const Error& error) {
    throw Error(error.code(), file + ": " + error.what());
  }
  try {
    return read_fields<Config>(document, file);
  } catch (const ValidationError& error) {
    const auto lines = lines_of(text);
    FieldErrors placed = error.errors();
    for (FieldError& wrong : placed) {
      const auto line = lines.find(wrong.pointer);
      if (line != lines.end())
        wrong.message = "line " + std::to_string(line->second) + ": " + wrong.message;
    }
    throw ValidationError(file, std::move(placed));
  }
}

Json to_json(const Config& config) { return write_fields(config); }

}  // namespace moil::daemon
