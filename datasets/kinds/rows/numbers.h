// Numbers in a file: CSV, or NumPy's NPY.
//
// CSV: lines of as many numbers each, with ',', ';', tabs or spaces between them; a first line of
// names is passed over. NPY: versions 1 to 3, C order, little-endian; whole numbers, floats of 2, 4
// and 8 bytes, and bools.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace moil::data {

struct Numbers {
  std::vector<std::int64_t> shape;  // of CSV: lines and columns
  std::vector<double> values;       // all finite
};

// kBadData, beginning with `name`, for what is neither, is damaged, holds no number, or one that is
// not finite, naming the line or the place.
[[nodiscard]] Numbers read_numbers(std::span<const std::uint8_t> bytes, std::string_view name);

// An NPY file of floats of 4 bytes, of one dimension.
[[nodiscard]] std::vector<std::uint8_t> encode_npy(std::span<const float> values);

}  // namespace moil::data
