// What the doctor found: a sentence, and what to do about it. Plain values.
#pragma once

#include <string>
#include <vector>

#include "daemon/json/fields.h"

namespace moil::daemon {

struct Finding {
  enum class Level {
    kOk,
    kWarning,  // it works, but less well than it could
    kProblem,  // nights, or labels, fail or will fail
  };
  std::string what;  // a stable name: "state-folder", "blas"
  Level level = Level::kOk;
  std::string says;
  std::string remedy;  // empty if nothing is to be done
};

using Findings = std::vector<Finding>;

EnumNames<Finding::Level> enum_names(Finding::Level);
Json to_json(const Finding& finding);

inline Finding ok(std::string what, std::string says) {
  return {std::move(what), Finding::Level::kOk, std::move(says), ""};
}
inline Finding warning(std::string what, std::string says, std::string remedy) {
  return {std::move(what), Finding::Level::kWarning, std::move(says), std::move(remedy)};
}
inline Finding problem(std::string what, std::string says, std::string remedy) {
  return {std::move(what), Finding::Level::kProblem, std::move(says), std::move(remedy)};
}

// "12.3", "1234", "0.05": a figure as people read it.
std::string figure(double value);
std::string size_text(double bytes);  // "12.3 MiB"

}  // namespace moil::daemon
