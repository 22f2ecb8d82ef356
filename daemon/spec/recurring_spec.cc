#include "daemon/spec/recurring_spec.h"

#include "daemon/spec/new_names.h"

namespace moil::daemon {
namespace {

constexpr const char* kNight = "night";

std::optional<std::string> check_every(const std::string& every) {
  if (every == kNight) return std::nullopt;
  try {
    (void)Calendar(every);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

const Fields<OnlyIf>& fields_of(const OnlyIf*) {
  static const Fields<OnlyIf> table = {
      field("new_labels", &OnlyIf::new_labels, Need::kOptional, between(1, 1'000'000)),
      field("changed_pack", &OnlyIf::changed_pack),
  };
  return table;
}

const Fields<RecurringSpec>& fields_of(const RecurringSpec*) {
  static const Fields<RecurringSpec> table = {
      field("name", &RecurringSpec::name, Need::kRequired, check_new_name),
      field("every", &RecurringSpec::every, Need::kOptional, check_every),
      field("only_if", &RecurringSpec::only_if),
      field("priority", &RecurringSpec::priority, Need::kOptional, between(-100, 100)),
      field("catch_up", &RecurringSpec::catch_up),
      field("enabled", &RecurringSpec::enabled),
      field("job", &RecurringSpec::job, Need::kRequired, check_job),
  };
  return table;
}

RecurringSpec stored_recurring_spec(const Json& document) {
  Json rest = document;
  const JobSpec job = stored_job_spec(document.at("job"));
  rest["job"] = to_json(job);
  RecurringSpec spec = read_fields<RecurringSpec>(rest, "a schedule");
  spec.job = job;
  return spec;
}

Json to_json(const RecurringSpec& spec) { return write_fields(spec); }

FieldErrors check_recurring(const RecurringSpec& spec) {
  if (!spec.only_if || spec.only_if->new_labels || spec.only_if->changed_pack) return {};
  return {{"/only_if", "expected \"new_labels\", \"changed_pack\" or both; null to run always"}};
}

std::optional<Calendar> calendar_of(const RecurringSpec& spec) {
  if (spec.every == kNight) return std::nullopt;
  return Calendar(spec.every);
}

}  // namespace moil::daemon
