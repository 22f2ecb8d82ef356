// The description of a recurring night: what schedule.add takes (docs/protocol.md).
#pragma once

#include <optional>
#include <string>

#include "daemon/spec/calendar.h"
#include "daemon/spec/job_spec.h"

namespace moil::daemon {

// A moment counts if one of these holds.
struct OnlyIf {
  std::optional<int> new_labels;  // at least so many samples were labelled since the run before
  bool changed_pack = false;      // the global pack is another than it was then
  bool operator==(const OnlyIf&) const = default;
};

struct RecurringSpec {
  std::string name;
  std::string every = "night";  // once in each window; or a calendar expression (calendar.h)
  // Empty: always. What learns the same again makes no better version.
  std::optional<OnlyIf> only_if = OnlyIf{1, true};
  int priority = 0;      // of its jobs: higher ones go first
  bool catch_up = true;  // a moment that was missed counts when the device is on again
  bool enabled = true;
  JobSpec job;
  bool operator==(const RecurringSpec&) const = default;
};

const Fields<RecurringSpec>& fields_of(const RecurringSpec*);

// What is wrong beside single fields.
FieldErrors check_recurring(const RecurringSpec& spec);

// A description that was accepted once.
RecurringSpec stored_recurring_spec(const Json& document);
Json to_json(const RecurringSpec& spec);

// Empty for "night".
[[nodiscard]] std::optional<Calendar> calendar_of(const RecurringSpec& spec);

}  // namespace moil::daemon
