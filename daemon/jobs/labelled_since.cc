#include "daemon/jobs/labelled_since.h"

#include <algorithm>

namespace moil::daemon {

std::size_t LabelledSince::count(std::int64_t id) const {
  if (const std::int64_t now = labels_.data_version(); now != version_) {
    ids_ = labels_.labelled_ids();
    version_ = now;
  }
  return static_cast<std::size_t>(ids_.end() - std::ranges::upper_bound(ids_, id));
}

}  // namespace moil::daemon
