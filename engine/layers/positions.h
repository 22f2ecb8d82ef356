// Where a position of a sequence stands, as the layer "positional_encoding" adds it.
#pragma once

#include <span>

namespace moil {

// sin(position / 10000^(2i/E)) at 2i, cos likewise at 2i + 1; E: row's.
void write_position(double position, std::span<float> row);

}  // namespace moil
