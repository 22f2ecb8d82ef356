// The gradient of a table of rows of which a batch reads some: sums over the places that read the
// same row, in the order of the places.
//
// Pure functions; thread-safe. Nothing takes time with the table's height.
#pragma once

#include <cstddef>
#include <cstdint>

namespace moil {

// out[i] = table[numbers[i]], rows of `width`. The numbers are in the table.
void gather_table_rows(const float* table, const std::int32_t* numbers, std::int64_t count,
                       std::int64_t width, float* out);

// Bytes that sum_table_rows() works in.
[[nodiscard]] std::size_t sum_table_rows_workspace(std::int64_t count);

// out_rows: the numbers that occur among `numbers`, in rising order; sums[r]: the sum of the rows
// of dy whose number is out_rows[r]. Gives how many. If there are `before` rows in both already,
// adds to those. Room for before + count rows, unless the table has fewer.
[[nodiscard]] std::int64_t sum_table_rows(const std::int32_t* numbers, const float* dy,
                                          std::int64_t count, std::int64_t width,
                                          std::int64_t before, std::int32_t* out_rows, float* sums,
                                          std::byte* workspace);

// table[numbers[i]] += dy[i].
void add_table_rows(const std::int32_t* numbers, const float* dy, std::int64_t count,
                    std::int64_t width, float* table);

}  // namespace moil
