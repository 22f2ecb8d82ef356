// Thrown between steps if the night was asked to stop; everything to resume from is saved.
#pragma once

#include "base/error.h"

namespace moil::night {

class Stopped : public Error {
 public:
  Stopped() : Error(ErrorCode::kCancelled, "the night was stopped") {}
};

}  // namespace moil::night
