// Descriptors that came along with a line, and the account of the user who sent them.
#pragma once

#include <cstddef>
#include <vector>

#include "base/files/unique_fd.h"
#include "daemon/rpc/budget.h"

namespace moil::daemon {

struct SentFiles {
  std::vector<UniqueFd> files;
  Budget::Charge charge;
  std::size_t refused = 0;  // closed at once: the user's clients have too many under way
};

}  // namespace moil::daemon
