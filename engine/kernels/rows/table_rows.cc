#include "engine/kernels/rows/table_rows.h"

#include <algorithm>
#include <cstring>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"

namespace moil {
namespace {

// A row's number above the place that reads it: sorted, places of one row are neighbours in order.
std::uint64_t key(std::int32_t number, std::int64_t place) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)) << 32 |
         static_cast<std::uint64_t>(place);
}
std::int32_t number_of(std::uint64_t k) { return static_cast<std::int32_t>(k >> 32); }
std::int64_t place_of(std::uint64_t k) { return static_cast<std::int64_t>(k & 0xffffffffU); }

void add(const float* from, float* to, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) to[i] += from[i];
}

// Makes room for rows that are new, from the back, and zeroes them. Gives how many there are then.
std::int64_t merge(const std::uint64_t* keys, std::int64_t count, std::int64_t width,
                   std::int64_t before, std::int32_t* rows, float* sums) {
  std::int64_t fresh = 0;
  for (std::int64_t k = 0, r = 0; k < count; ++k) {
    if (k > 0 && number_of(keys[k]) == number_of(keys[k - 1])) continue;
    while (r < before && rows[r] < number_of(keys[k])) ++r;
    if (r == before || rows[r] != number_of(keys[k])) ++fresh;
  }
  std::int64_t to = before + fresh - 1, r = before - 1;
  for (std::int64_t k = count - 1; k >= 0; --k) {
    if (k + 1 < count && number_of(keys[k]) == number_of(keys[k + 1])) continue;
    for (; r >= 0 && rows[r] > number_of(keys[k]); --r, --to) {
      rows[to] = rows[r];
      std::memmove(sums + to * width, sums + r * width,
                   static_cast<std::size_t>(width) * sizeof(float));
    }
    if (r >= 0 && rows[r] == number_of(keys[k])) continue;  // moved in its turn
    rows[to] = number_of(keys[k]);
    std::fill_n(sums + to * width, width, 0.0F);
    --to;
  }
  return before + fresh;
}

}  // namespace

void gather_table_rows(const float* table, const std::int32_t* numbers, std::int64_t count,
                       std::int64_t width, float* out) {
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / width);
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      std::memcpy(out + i * width, table + numbers[i] * width,
                  static_cast<std::size_t>(width) * sizeof(float));
  });
}

std::size_t sum_table_rows_workspace(std::int64_t count) {
  return static_cast<std::size_t>(count) * sizeof(std::uint64_t);
}

std::int64_t sum_table_rows(const std::int32_t* numbers, const float* dy, std::int64_t count,
                            std::int64_t width, std::int64_t before, std::int32_t* out_rows,
                            float* sums, std::byte* workspace) {
  auto* keys = reinterpret_cast<std::uint64_t*>(workspace);
  for (std::int64_t i = 0; i < count; ++i) keys[i] = key(numbers[i], i);
  std::sort(keys, keys + count);
  const std::int64_t rows = merge(keys, count, width, before, out_rows, sums);
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / width);
  parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::uint64_t* k = std::lower_bound(keys, keys + count, key(out_rows[begin], 0));
    for (std::int64_t r = begin; r < end; ++r)
      for (; k < keys + count && number_of(*k) == out_rows[r]; ++k)
        add(dy + place_of(*k) * width, sums + r * width, width);
  });
  return rows;
}

void add_table_rows(const std::int32_t* numbers, const float* dy, std::int64_t count,
                    std::int64_t width, float* table) {
  for (std::int64_t i = 0; i < count; ++i) add(dy + i * width, table + numbers[i] * width, width);
}

}  // namespace moil
