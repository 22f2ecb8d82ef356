// What a night cannot do, told at the field of the job description that asks for it.
#pragma once

#include <string>

#include "base/error.h"
#include "daemon/json/fields.h"

namespace moil::night {

// pointer: within the job description, "/memory/budget_bytes".
[[nodiscard]] inline daemon::ValidationError field_error(const std::string& pointer,
                                                         const std::string& message) {
  return {"the job description", {{pointer, message}}};
}

// Whether it says that what was asked for cannot be had, however often it is tried; others (a full
// disk, damaged data) say nothing of what was asked.
[[nodiscard]] inline bool is_refusal(const Error& error) {
  return error.code() == ErrorCode::kInvalidArgument ||
         error.code() == ErrorCode::kFailedPrecondition ||
         error.code() == ErrorCode::kUnimplemented;
}

// Does `work`; if it cannot be done as it was asked for, that is the field's error. Others (a
// full disk, no memory) stay what they are.
template <typename Work>
auto at_field(const std::string& pointer, const Work& work) {
  try {
    return work();
  } catch (const daemon::ValidationError&) {
    throw;
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kInvalidArgument && e.code() != ErrorCode::kNotFound &&
        e.code() != ErrorCode::kBadData)
      throw;
    throw field_error(pointer, e.what());
  }
}

}  // namespace moil::night
