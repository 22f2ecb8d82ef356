// What a client may do. Each role includes those before it.
#pragma once

#include <string>

#include "daemon/json/fields.h"

namespace moil::daemon {

enum class Role {
  kRead,     // look: jobs, models, labels, the device
  kLabel,    // add, change and forget samples; ask a model
  kOperate,  // let jobs run and choose the version in service
  kAdmin,    // bring models and remove them, check and empty the cache
};

EnumNames<Role> enum_names(Role);
std::string to_string(Role role);

}  // namespace moil::daemon
