// What the readers of tasks share.
#pragma once

#include <initializer_list>
#include <string_view>

#include "base/error.h"
#include "base/json/json.h"

namespace moil {

// kInvalidArgument for a member that is none of these.
inline void require_fields(const nlohmann::json& json,
                           std::initializer_list<std::string_view> fields) {
  for (const auto& [name, value] : json.items()) {
    bool is_known = false;
    for (const std::string_view field : fields) is_known = is_known || name == field;
    if (!is_known)
      throw Error(ErrorCode::kInvalidArgument,
                  "task " + json.at("task").dump() + " has no \"" + name + "\"");
  }
}

}  // namespace moil
