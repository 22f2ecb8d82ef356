#include "daemon/metrics/prometheus_text.h"

#include <fmt/core.h>

#include <cmath>

namespace moil::daemon {
namespace {

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

const char* name_of(PrometheusText::Type type) {
  switch (type) {
    case PrometheusText::Type::kGauge:
      return "gauge";
    case PrometheusText::Type::kCounter:
      return "counter";
    case PrometheusText::Type::kSummary:
      return "summary";
  }
  return "untyped";
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

void PrometheusText::family(std::string_view name, Type type, std::string_view help) {
  name_ = name;
  text_ += "# HELP " + name_ + " " + escaped(help, false) + "\n";
  text_ += "# TYPE " + name_ + " " + name_of(type) + "\n";
}

void PrometheusText::sample(double value, const Labels& labels, std::string_view suffix) {
  text_ += name_;
  text_ += suffix;
  std::string inside;
  for (const auto& [label, content] : labels)
    inside += (inside.empty() ? "" : ",") + label + "=\"" + escaped(content, true) + "\"";
  if (!inside.empty()) text_ += "{" + inside + "}";
  text_ += " " + number(value) + "\n";
}

void PrometheusText::single(std::string_view name, Type type, std::string_view help, double value) {
  family(name, type, help);
  sample(value);
}

}  // namespace moil::daemon
