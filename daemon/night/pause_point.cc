#include "daemon/night/pause_point.h"

#include <unistd.h>

#include <cstdlib>

namespace moil::night {

void pause_if_asked(daemon::Stage stage) {
  const char* wanted = std::getenv("MOIL_PAUSE_AT");
  if (wanted == nullptr || daemon::to_string(stage) != wanted) return;
  for (;;) ::pause();
}

}  // namespace moil::night
