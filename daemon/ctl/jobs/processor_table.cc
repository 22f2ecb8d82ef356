#include "daemon/ctl/jobs/processor_table.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/json/json.h"

namespace moil::daemon::ctl {
namespace {

constexpr const char* kPasses[] = {"FP", "BP", "UP"};

template <class... Values>
std::string by_format(const char* format, const Values&... values) {
  const int size = std::snprintf(nullptr, 0, format, values...);
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), format, values...);
  text.pop_back();
  return text;
}

std::string bare_milliseconds(const Json& seconds) {
  return seconds.is_null() ? "-" : by_format("%.3f", 1e3 * seconds.get<double>());
}

// Empty of a layer that computes nothing.
std::string layer_line(const Json& layer) {
  const std::string letters = layer.at("processors");
  if (letters.empty()) return "";
  std::string line = by_format(
      "%-32s %-4s ", layer.at("name").get_ref<const std::string&>().c_str(), letters.c_str());
  for (const char* pass : kPasses) {
    if (layer.contains(pass))
      line += by_format(" %10s | %10s", bare_milliseconds(layer.at(pass).at("c")).c_str(),
                        bare_milliseconds(layer.at(pass).at("g")).c_str());
    else
      line += by_format(" %23s", "");
  }
  return line + "\n";
}

// From the slowest to the fastest; the one that was asked for is marked.
std::string method_lines(const Json& methods, const std::string& asked) {
  const auto seconds = [&](const std::string& name) {
    return methods.at(name).at("seconds").get<double>();
  };
  std::vector<std::string> names;
  for (const auto& [name, cost] : methods.items()) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return seconds(a) > seconds(b);
  });
  std::string lines;
  for (const std::string& name : names)
    lines +=
        by_format("%-12s %12s %10zu%s\n", name.c_str(),
                  bare_milliseconds(methods.at(name).at("seconds")).c_str(),
                  methods.at(name).at("transfers").get<std::size_t>(), name == asked ? "  <" : "");
  return lines;
}

}  // namespace

std::string processor_table(const Json& told) {
  std::string text = by_format("%-32s %-4s  %-23s %-23s %-23s\n", "layer, ms on CPU | other", "",
                               "FP", "BP", "UP");
  for (const Json& layer : told.at("layers")) text += layer_line(layer);
  text += by_format("\n%-12s %12s %10s\n", "selection", "ms a step", "transfers");
  text += method_lines(told.at("methods"), told.at("method"));
  for (const Json& refused : told.at("refused"))
    text += "the driver refuses " + refused.get<std::string>() + "\n";
  return text;
}

}  // namespace moil::daemon::ctl
