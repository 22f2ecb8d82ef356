// Thrown between steps where the night was asked to stop; everything to resume from is saved.
#pragma once

namespace moil::night {

struct Stopped {};

}  // namespace moil::night
