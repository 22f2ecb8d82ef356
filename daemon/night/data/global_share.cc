#include "daemon/night/data/global_share.h"

#include <algorithm>

namespace moil::night {
namespace {

constexpr std::int64_t kFewestGlobal = 1000;

}  // namespace

daemon::GlobalSpec global_share(const daemon::JobSpec& spec, std::size_t local) {
  daemon::GlobalSpec global = spec.global;
  if (!spec.open.contains("/global/alpha")) return global;
  global.alpha = 1;
  if (spec.open.contains("/global/limit"))
    global.limit = std::max(kFewestGlobal, static_cast<std::int64_t>(local));
  return global;
}

}  // namespace moil::night
