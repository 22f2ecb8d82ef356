#include "featurecache/report.h"

#include "base/error.h"

namespace moil::cache {

void Watch::step(std::uint64_t done, std::uint64_t total) const {
  if (stop.stop_requested()) {
    throw Error(ErrorCode::kCancelled,
                "feature cache: stopped after " + std::to_string(done) + " entries");
  }
  if (progress) progress(done, total);
}

}  // namespace moil::cache
