// When this moild was started. A plain value.
#pragma once

#include <cstdint>

#include "daemon/schedule/world.h"

namespace moil::daemon {

struct Started {
  explicit Started(const World& world)
      : at(world.steady_milliseconds()), on(world.now_milliseconds()) {}
  std::int64_t at;  // by the steady clock
  std::int64_t on;  // by the wall clock then, milliseconds since 1970
};

}  // namespace moil::daemon
