// What the dispatcher has answered, by method. Plain values. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace moil::daemon {

struct RequestCount {
  std::uint64_t answered = 0;
  double seconds = 0;  // from the requests' starts to their answers, together
  std::map<std::string, std::uint64_t> errors;  // by data.code
};

using RequestCounts = std::map<std::string, RequestCount>;  // by method; unknown ones are "unknown"

}  // namespace moil::daemon
