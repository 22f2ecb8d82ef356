// What this moild has counted since it was started: requests, workers, nights. Plain values. Loop
// thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "daemon/rpc/request_counts.h"

namespace moil::daemon {

struct Counts {
  RequestCounts requests;
  std::map<std::string, std::uint64_t> worker_ends;  // of nights, by how: "result", "died", ...
  std::map<std::string, std::uint64_t> nights;       // by the state in which they ended
};

}  // namespace moil::daemon
