#include "daemon/ctl/elastic/elastic_report.h"

#include <algorithm>
#include <map>

#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kMostTensors = 10'000, kMostIntervals = 1'000;
constexpr double kMostEpochs = 1e9;

using IndexByName = std::map<std::string, std::size_t>;

const Json& member(const Json& object, const char* name) {
  static const Json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

std::optional<double> number(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

std::int64_t epochs(const Json& object, const char* name, std::int64_t otherwise) {
  const auto value = number(object, name);
  return value ? static_cast<std::int64_t>(std::clamp(*value, 0.0, kMostEpochs)) : otherwise;
}

std::string text(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? printable(value.get<std::string>()) : "";
}

// The list's first elements; none if it is no list.
std::vector<const Json*> elements(const Json& list, std::size_t most, bool& cut) {
  std::vector<const Json*> out;
  if (!list.is_array()) return out;
  for (const Json& element : list) {
    if (out.size() == most) {
      cut = true;
      break;
    }
    out.push_back(&element);
  }
  return out;
}

// What harms has no share.
std::vector<double> read_shares(const Json& importance, std::size_t tensors) {
  if (!importance.is_array() || importance.empty()) return {};
  std::vector<double> shares(tensors, 0);
  double sum = 0;
  for (std::size_t i = 0; i < std::min(tensors, importance.size()); ++i) {
    if (importance[i].is_number()) shares[i] = std::max(0.0, importance[i].get<double>());
    sum += shares[i];
  }
  for (double& share : shares) share = sum > 0 ? share / sum : 0;
  return shares;
}

std::vector<bool> read_selection(const Json& names, const IndexByName& tensors) {
  std::vector<bool> selected(tensors.size(), false);
  if (!names.is_array()) return selected;
  for (const Json& name : names) {
    const auto found = name.is_string() ? tensors.find(name.get<std::string>()) : tensors.end();
    if (found != tensors.end()) selected[found->second] = true;
  }
  return selected;
}

ElasticInterval read_interval(const Json& interval, const IndexByName& tensors,
                              std::int64_t follows, std::int64_t usual_epochs) {
  ElasticInterval out;
  out.first = epochs(interval, "epoch", follows) + 1;
  out.last = out.first + std::max<std::int64_t>(1, epochs(interval, "epochs", usual_epochs)) - 1;
  out.selected = read_selection(member(interval, "selected"), tensors);
  out.shares = read_shares(member(interval, "importance"), tensors.size());
  out.predicted_step_seconds = number(interval, "predicted_step_seconds");
  out.measured_step_seconds = number(interval, "measured_step_seconds");
  if (out.measured_step_seconds == 0) out.measured_step_seconds.reset();  // no step was measured
  out.planned_bytes = number(interval, "planned_bytes");
  out.probe_seconds = number(interval, "probe_seconds");
  out.selector_seconds = number(interval, "selector_seconds");
  out.choosing_seconds = number(interval, "choosing_seconds");
  out.caching_seconds = number(interval, "caching_seconds");
  out.begins_behind = text(interval, "begins_behind");
  return out;
}

// The names as they are in the result, by their row.
IndexByName read_tensors(const Json& names, ElasticReport& report) {
  IndexByName by_name;
  for (const Json* name : elements(names, kMostTensors, report.cut)) {
    if (!name->is_string()) continue;
    if (!by_name.emplace(name->get<std::string>(), report.tensors.size()).second) continue;
    report.tensors.push_back(printable(name->get<std::string>()));
  }
  return by_name;
}

}  // namespace

ElasticReport read_elastic_report(const Json& elastic) {
  ElasticReport report;
  report.rho = number(elastic, "rho");
  report.smallest_rho = number(elastic, "smallest_rho");
  report.forward_share = number(elastic, "forward_share");
  report.interval_epochs = number(elastic, "interval_epochs");
  report.full_step_seconds = number(elastic, "full_step_seconds");
  report.full_planned_bytes = number(elastic, "full_planned_bytes");
  report.remark = text(elastic, "remark");
  const IndexByName tensors = read_tensors(member(elastic, "tensors"), report);
  std::int64_t follows = 0;
  for (const Json* each : elements(member(elastic, "intervals"), kMostIntervals, report.cut)) {
    report.intervals.push_back(
        read_interval(*each, tensors, follows, epochs(elastic, "interval_epochs", 1)));
    follows = report.intervals.back().last;
  }
  for (const Json* each : elements(member(elastic, "profiles"), kMostIntervals, report.cut)) {
    report.profiles.push_back({.epoch = epochs(*each, "epoch", 0) + 1,
                               .step_seconds = number(*each, "step_seconds"),
                               .forward_seconds = number(*each, "forward_seconds"),
                               .seconds = number(*each, "seconds"),
                               .why = text(*each, "why")});
  }
  return report;
}

std::string epochs_text(std::int64_t first, std::int64_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

std::size_t count_selected(const ElasticInterval& interval) {
  return static_cast<std::size_t>(
      std::count(interval.selected.begin(), interval.selected.end(), true));
}

bool has_shares(const ElasticReport& report) {
  return std::any_of(report.intervals.begin(), report.intervals.end(),
                     [](const ElasticInterval& interval) { return !interval.shares.empty(); });
}

std::optional<double> share_of_full_step(const ElasticReport& report,
                                         const ElasticInterval& interval) {
  const auto step = interval.measured_step_seconds ? interval.measured_step_seconds
                                                   : interval.predicted_step_seconds;
  if (!step || report.full_step_seconds.value_or(0) <= 0) return std::nullopt;
  return *step / *report.full_step_seconds;
}

}  // namespace moil::daemon::ctl
