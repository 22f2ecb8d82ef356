#include "engine/device/lost_processor.h"

#include <cstdio>
#include <cstdlib>

namespace moil {
namespace {

void end_at_once(int code, void*) {
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace

void note_lost_processor() {
  // The last that is registered runs first, and unlike atexit()'s it is told the exit code.
  static const int registered = ::on_exit(end_at_once, nullptr);
  (void)registered;
}

}  // namespace moil
