// What a person does best next, as moilctl status ends with it: one line, with the command that
// does it. Pure; safe from any thread.
#pragma once

#include <string>

#include "daemon/json/fields.h"

namespace moil::daemon::ctl {

struct Standing {
  Json overview;                // system.overview; null: not known
  Json models;                  // of model.list: versions
  std::int64_t labelled = 0;    // samples
  std::int64_t unlabelled = 0;  // samples
};

[[nodiscard]] std::string next_step(const Standing& standing);

}  // namespace moil::daemon::ctl
