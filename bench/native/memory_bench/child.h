// Work whose memory must not count: done in a process of its own.
#pragma once

#include <cstddef>
#include <functional>

#include "base/json/json.h"

namespace moil {

struct ChildResult {
  nlohmann::json value;
  std::size_t peak_bytes = 0;  // the most that the child held
};

// Forks, runs `work` in the child and returns what it returned. Call it before this process has
// threads. Throws kInternal if the child fails; it says why on stderr.
[[nodiscard]] ChildResult run_in_child(const std::function<nlohmann::json()>& work);

}  // namespace moil
