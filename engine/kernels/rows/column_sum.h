// Sums over the rows of a matrix: the gradient of a bias.
#pragma once

#include <cstddef>
#include <cstdint>

namespace moil {

[[nodiscard]] std::size_t column_sum_workspace(std::int64_t rows, std::int64_t columns);

// sums[columns] (+)= the sums of x[rows x columns]; in blocks, which keeps rounding small.
// Parallel, with the same bits for any number of threads; allocates nothing.
void column_sum(std::int64_t rows, std::int64_t columns, const float* x, float* sums,
                bool accumulate, std::byte* workspace);

}  // namespace moil
