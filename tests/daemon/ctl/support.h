// Results of elastic training made up for tests.
#pragma once

#include <string>
#include <vector>

#include "daemon/ctl/elastic/elastic_report.h"

namespace moil::daemon::ctl::test {

// A network of so many blocks, each a convolution and its batch norm: three tensors.
inline std::vector<std::string> block_tensors(std::size_t blocks) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= blocks; ++i) {
    const std::string block = "block" + std::to_string(i);
    for (const char* weight : {".conv.kernel", ".bn.gamma", ".bn.beta"})
      names.push_back(block + weight);
  }
  return names;
}

// As job.get has it. Interval i (from 0), of three epochs, trains the last i + 1 tensors, which are
// all as important; the others harm.
inline Json elastic_result(const std::vector<std::string>& names, std::size_t intervals) {
  Json all = Json::array();
  for (std::size_t i = 0; i < intervals; ++i) {
    Json selected = Json::array(), importance = Json::array();
    for (std::size_t t = 0; t < names.size(); ++t) {
      const bool chosen = t + i + 1 >= names.size();
      if (chosen) selected.push_back(names[t]);
      importance.push_back(chosen ? 0.5 : -0.25);
    }
    all.push_back({{"epoch", 3 * i},
                   {"epochs", 3},
                   {"selected", selected},
                   {"importance", importance},
                   {"predicted_step_seconds", 0.09},
                   {"measured_step_seconds", 0.1},
                   {"planned_bytes", 1 << 20},
                   {"probe_seconds", 0.031},
                   {"selector_seconds", 0.024},
                   {"choosing_seconds", 0.5},
                   {"caching_seconds", i == 1 ? 0.25 : 0.0},
                   {"begins_behind", i == 1 ? "block0.relu" : ""}});
  }
  return {{"rho", 0.5},
          {"interval_epochs", 3},
          {"forward_share", 0.21},
          {"smallest_rho", 0.23},
          {"full_step_seconds", 0.2},
          {"full_planned_bytes", 4 << 20},
          {"tensors", names},
          {"intervals", all},
          {"profiles",
           {{{"epoch", 0},
             {"step_seconds", 0.2},
             {"forward_seconds", 0.05},
             {"seconds", 2.1},
             {"why", "measured"}}}},
          {"remark", nullptr}};
}

inline std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

}  // namespace moil::daemon::ctl::test
