// When this moild was started, and what it has counted since: requests, workers, nights. Plain
// values. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "daemon/rpc/request_counts.h"

namespace moil::daemon {

struct Counts {
  std::int64_t started_at = 0;  // by the steady clock
  std::int64_t started_on = 0;  // by the wall clock then, milliseconds since 1970
  RequestCounts requests;
  std::map<std::string, std::uint64_t> worker_ends;  // of nights, by how: "result", "died", ...
  std::map<std::string, std::uint64_t> nights;       // by the state in which they ended
};

}  // namespace moil::daemon
