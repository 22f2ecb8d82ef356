// Numbers in a file: CSV, or NumPy's NPY.
//
// CSV: lines of as many numbers each, with ',', ';', tabs or spaces between them; a first line of
// names is passed over, and with it a first column that it does not name. NPY: versions 1 to 3, C
// order, little-endian; whole numbers, floats of 2, 4 and 8 bytes, and bools.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace moil::data {

struct Numbers {
  std::vector<std::int64_t> shape;  // of CSV: lines and columns
  std::vector<double> values;       // all finite
};

// kBadData, beginning with `name`, for what is neither, is damaged, holds no number, or one that is
// not finite, naming the line or the place; also for more than `most` numbers, of which no more are
// read. Takes eight bytes a number.
[[nodiscard]] Numbers read_numbers(std::span<const std::uint8_t> bytes, std::string_view name,
                                   std::size_t most = std::numeric_limits<std::size_t>::max());
// Their shape alone, which takes no memory to speak of. The numbers of an NPY file are not looked
// at.
[[nodiscard]] std::vector<std::int64_t> shape_of_numbers(std::span<const std::uint8_t> bytes,
                                                         std::string_view name);
// How many a file of so many bytes holds at most, by its first ones.
[[nodiscard]] std::uint64_t most_numbers_in(std::span<const std::uint8_t> head,
                                            std::uint64_t file_bytes);

// An NPY file of floats of 4 bytes, of one dimension.
[[nodiscard]] std::vector<std::uint8_t> encode_npy(std::span<const float> values);

}  // namespace moil::data
