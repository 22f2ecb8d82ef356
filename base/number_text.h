// A number as people write it: "3.2", "3", "0.0000625" as "6.25e-05". Safe from any thread.
#pragma once

#include <cstdio>
#include <string>

namespace moil {

// At most so many digits that count, and no zeros behind the point.
[[nodiscard]] inline std::string number_text(double value, int digits = 10) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

}  // namespace moil
