// Types of layers that tests register: whoever sweeps all types passes over them.
#pragma once

#include <string>

namespace moil::test {

inline bool is_of_another_test(const std::string& type) {
  return type == "users_own" || type == "square" || type == "learned_clip" || type == "lifespans";
}

}  // namespace moil::test
