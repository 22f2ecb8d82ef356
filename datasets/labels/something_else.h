// The one label with a meaning of its own: its samples are of none of the other labels. So it has
// no look that they share, stands for no label of a model, and is a sample's only label.
#pragma once

#include <string_view>

namespace moil::data {

inline constexpr std::string_view kSomethingElse = "something else";

}  // namespace moil::data
