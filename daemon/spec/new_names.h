// Rules for names that are given now, stricter than those for names that are there (job_spec.h):
// models and jobs of older versions stay reachable.
//
// Each returns the complaint, or nothing. Safe from any thread.
#pragma once

#include <optional>
#include <string>

namespace moil::daemon {

// A model's name passes check_name() and does not start with '-', which a command line takes for
// an option.
std::optional<std::string> check_new_name(const std::string& name);

// A job's name does not start with '-' and holds nothing that no name may hold
// (datasets/labels/text.h).
std::optional<std::string> check_new_title(const std::string& title);

}  // namespace moil::daemon
