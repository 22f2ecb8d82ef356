// Rules for names that are given now, stricter than those for names that are there (job_spec.h):
// models and jobs of older versions stay reachable.
//
// Each returns the complaint, or nothing. Safe from any thread.
#pragma once

#include <optional>
#include <string>

namespace moil::daemon {

// Of a model: check_name(), and not starting with '-', which a command line takes for an option.
std::optional<std::string> check_new_name(const std::string& name);

// Of a job: not starting with '-', and nothing in it that no name may hold
// (datasets/labels/text.h).
std::optional<std::string> check_new_title(const std::string& title);

}  // namespace moil::daemon
