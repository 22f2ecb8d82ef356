// The known name that a misspelt one most likely meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace moil::daemon {

// The known name with the smallest edit distance to `found`, ignoring case; empty if none is
// close enough (a third of its length, at least two edits) to be worth suggesting.
std::string nearest(std::string_view found, std::span<const std::string> known);

}  // namespace moil::daemon
