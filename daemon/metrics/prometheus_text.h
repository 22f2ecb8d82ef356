// Metrics as text in Prometheus' exposition format (version 0.0.4): families of samples, each with
// its help and type, in the order in which they were added. A plain value type.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace moil::daemon {

class PrometheusText {
 public:
  enum class Type { kGauge, kCounter, kSummary };
  using Labels = std::vector<std::pair<std::string, std::string>>;

  // Begins a family: samples that follow are its own. A counter's name ends in _total.
  void family(std::string_view name, Type type, std::string_view help);
  void sample(double value, const Labels& labels = {}, std::string_view suffix = "");
  // A family of one sample without labels.
  void single(std::string_view name, Type type, std::string_view help, double value);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string name_;  // of the present family
  std::string text_;
};

}  // namespace moil::daemon
