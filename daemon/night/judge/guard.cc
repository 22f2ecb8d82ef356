#include "daemon/night/judge/guard.h"

#include <cstdio>
#include <functional>

namespace moil::night {
namespace {

// The difference of fractions that are the same when told in decimals.
constexpr double kRounding = 1e-9;
constexpr std::size_t kMostNamed = 5;

std::string told(const Metric& metric, double value) {
  char text[32];
  if (metric.is_fraction)
    std::snprintf(text, sizeof text, "%.1f %%", 100 * value);
  else
    std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

std::string samples(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " sample" : " samples");
}

std::string setting(const char* name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "guard.%s %.6g", name, value);
  return text;
}

std::string drop_setting(const daemon::GuardSpec& guard) {
  return setting("max_global_drop", guard.max_global_drop);
}

std::string least_setting(const daemon::GuardSpec& guard) {
  return setting("min_local_accuracy", guard.min_local_accuracy);
}

// "a", "b" and 3 more.
std::string named(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i)
    text += (i == 0 ? "\"" : ", \"") + names[i] + "\"";
  if (names.size() > kMostNamed)
    text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  return text;
}

std::vector<std::string> classes_where(const Measured& m,
                                       const std::function<bool(const LocalClass&)>& is) {
  std::vector<std::string> names;
  for (const LocalClass& c : m.local_classes)
    if (is(c)) names.push_back(c.name);
  return names;
}

std::optional<std::string> global_objection(const daemon::GuardSpec& guard, const Measured& m) {
  const Metric metric = m.global_metric();
  const std::string subject = "global " + metric.name;
  const double most = guard.max_global_drop;
  if (!m.global.before || !m.global.after)
    return subject + " was not measured; " + drop_setting(guard) + " asks for it";
  const double before = *m.global.before, after = *m.global.after;
  if (metric.loss_between(before, after) > most + kRounding)
    return subject + (metric.higher_is_better ? " would fall from " : " would rise from ") +
           told(metric, before) + " to " + told(metric, after) + "; guard.max_global_drop allows " +
           told(metric, most) + "; more of global.alpha, or fewer trained layers, forget less";
  if (!m.anchor) return std::nullopt;
  const std::string version = "version " + std::to_string(m.anchor->version);
  const std::string other = "\"moilctl model anchor NAME VERSION\" names another anchor";
  if (!m.anchor->global)
    return "the " + metric.name + " of " + version + ", the model's anchor, was not measured (" +
           m.anchor->why_not + "); " + drop_setting(guard) + " asks for it; " + other;
  if (metric.loss_between(*m.anchor->global, after) > most + kRounding)
    return subject + " would be " + told(metric, after) + ", after " +
           told(metric, *m.anchor->global) + " of " + version +
           ", the model's anchor; guard.max_global_drop allows " + told(metric, most) +
           " for all nights since then; " + other;
  return std::nullopt;
}

std::optional<std::string> local_objection(const daemon::GuardSpec& guard, const Measured& m) {
  const std::string subject = "local " + m.metric.name;
  if (!m.local.after)
    return subject + " was not measured; " + least_setting(guard) + " asks for it";
  if (m.metric.loss_between(guard.min_local_accuracy, *m.local.after) <= kRounding)
    return std::nullopt;
  return subject + " would be " + told(m.metric, *m.local.after) + " of " +
         samples(m.local_held_out) + " held out; guard.min_local_accuracy asks for " +
         told(m.metric, guard.min_local_accuracy) +
         "; more samples, or more epochs, teach more, and with few samples a lower minimum is fair";
}

std::string change(const char* what, const Metric& metric, const Qualities& quality) {
  const double after = quality.after.value_or(0), before = quality.before.value_or(after);
  const std::string subject = std::string(what) + " " + metric.name + " ";
  const std::string now = told(metric, after), then = told(metric, before);
  if (now == then) return subject + "stays at " + now;
  return subject + (after > before ? "rises from " : "falls from ") + then + " to " + now;
}

std::string global_clause(const daemon::GuardSpec& guard, const Measured& m) {
  if (!m.global.after) {
    const std::string why = m.global_held_out == 0 ? ": the pack holds out no samples"
                                                   : ": the held-out samples do not tell it";
    return "global " + m.global_metric().name + " was not measured" + why;
  }
  std::string text = change("global", m.global_metric(), m.global);
  const double after = *m.global.after;
  const bool falls = m.global_metric().loss_between(m.global.before.value_or(after), after) > 0;
  if (falls && !asks_for_global(guard)) text += " (" + drop_setting(guard) + " allows any fall)";
  return text;
}

std::string local_clause(const Measured& m) {
  if (!m.local.after) {
    if (m.local_trained == 0) return "no local samples were learned from, for there are none";
    return "what was learned of " + samples(m.local_trained) + " was not measured: " +
           (m.local_held_out == 0 ? "none is held out" : "the held-out samples do not tell it");
  }
  return change("local", m.metric, m.local);
}

// "passion-fruit: 0 of 1, kiwi: 0 of 3 held-out samples right": empty if there is no such class.
std::string none_right(const Measured& m) {
  std::string text;
  std::size_t named = 0, more = 0, last = 0;
  for (const LocalClass& c : m.local_classes) {
    if (c.held_out == 0 || c.right_after > 0) continue;
    if (++named > kMostNamed) {
      ++more;
      continue;
    }
    text += (text.empty() ? "" : ", ") + c.name + ": 0 of " + std::to_string(c.held_out);
    last = c.held_out;
  }
  if (text.empty()) return "";
  text += last == 1 ? " held-out sample right" : " held-out samples right";
  return more == 0 ? text : text + ", nor any of " + std::to_string(more) + " more labels";
}

}  // namespace

namespace {

// Whatever a model answers, the score is none: a tag that all samples have, numbers that are alike.
std::string same_labels(const std::string& held_out) {
  return ", for the labels of " + held_out +
         " do not tell good answers from bad ones (are they all "
         "alike?); ";
}

}  // namespace

std::optional<daemon::FieldError> not_measurable(const daemon::GuardSpec& guard,
                                                 const Measured& counts) {
  if (asks_for_global(guard) && counts.global_held_out == 0)
    return daemon::FieldError{
        "/guard/max_global_drop",
        "global " + counts.global_metric().name +
            " cannot be measured, for the global pack holds out no samples; " +
            drop_setting(guard) +
            " asks for it; use a pack with held-out samples, or set guard.max_global_drop to 1"};
  if (asks_for_global(guard) && !counts.global_tells)
    return daemon::FieldError{
        "/guard/max_global_drop",
        "global " + counts.global_metric().name + " cannot be measured" +
            same_labels("the " + samples(counts.global_held_out) +
                        " that the global pack holds out") +
            drop_setting(guard) +
            " asks for it; use a pack whose held-out samples differ in their labels, or set "
            "guard.max_global_drop to 1"};
  if (guard.min_local_accuracy > 0 && counts.local_held_out > 0 && !counts.local_tells)
    return daemon::FieldError{
        "/guard/min_local_accuracy",
        "local " + counts.metric.name + " cannot be measured" +
            same_labels("the " + samples(counts.local_held_out) + " held out") +
            least_setting(guard) +
            " asks for it; add held-out samples with other labels, or set "
            "guard.min_local_accuracy to 0"};
  if (guard.min_local_accuracy > 0 && counts.local_held_out == 0)
    return daemon::FieldError{
        "/guard/min_local_accuracy",
        "local " + counts.metric.name + " cannot be measured, for " +
            (counts.local_trained == 0
                 ? std::string("there are no local samples")
                 : "none of " + samples(counts.local_trained) + " is held out") +
            "; " + least_setting(guard) +
            " asks for it; add samples that are held out (\"moilctl label add --split val\"), or "
            "set "
            "guard.min_local_accuracy to 0"};
  return std::nullopt;
}

std::optional<std::string> objection(const daemon::GuardSpec& guard, const Measured& measured) {
  if (auto why = not_measurable(guard, measured)) return why->message;
  if (asks_for_global(guard))
    if (auto why = global_objection(guard, measured)) return why;
  if (guard.min_local_accuracy > 0) return local_objection(guard, measured);
  return std::nullopt;
}

std::string verdict(const daemon::GuardSpec& guard, const Measured& measured) {
  std::string text = global_clause(guard, measured) + "; " + local_clause(measured);
  if (!measured.local.after) return text;
  const auto unmeasured =
      classes_where(measured, [](const LocalClass& c) { return c.held_out == 0; });
  if (const std::string unlearned = none_right(measured); !unlearned.empty())
    text += "; " + unlearned;
  if (!unmeasured.empty())
    text += "; " + named(unmeasured) + (unmeasured.size() == 1 ? " was" : " were") +
            " not measured: no sample of " + (unmeasured.size() == 1 ? "it" : "them") +
            " is held out";
  return text;
}

}  // namespace moil::night
