// How much two names of labels say the same. Pure.
#pragma once

#include <string_view>

namespace moil::night {

// The part of the words of both, without case, punctuation and a plural's "s", that both have: 0
// to 1. "red-bell-pepper" and "Bell pepper": 2/3.
[[nodiscard]] double name_likeness(std::string_view a, std::string_view b);

}  // namespace moil::night
