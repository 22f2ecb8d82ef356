// Parameters of a method that has none: anything given is an error that names it.
#pragma once

#include "daemon/json/fields.h"

namespace moil::daemon {

struct NoParams {};
inline const Fields<NoParams>& fields_of(const NoParams*) {
  static const Fields<NoParams> table;
  return table;
}

}  // namespace moil::daemon
