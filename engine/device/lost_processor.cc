#include "engine/device/lost_processor.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace moil {
namespace {

std::atomic<bool> one_was_lost = false;

}  // namespace

void note_lost_processor() { one_was_lost = true; }

int leave_processors(int code) {
  if (!one_was_lost) return code;
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace moil
