#include "engine/kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/column_sum.h"
#include "tests/engine/device/conv/conv_reference.h"

namespace moil {
namespace {

using test::AlignedBytes;
using test::difference;
using test::Floats;
using test::random_floats;

struct Sizes {
  std::int64_t m, n, k;
};
const Sizes kSizes[] = {{1, 1, 1},     {1, 10, 1280}, {3, 5, 7},      {12, 32, 16}, {13, 33, 17},
                        {25, 48, 300}, {64, 24, 144}, {100, 96, 600}, {7, 700, 20}, {130, 65, 257}};

// op(A) op(B), in double.
std::vector<double> product(const Sizes& s, const std::vector<float>& a, bool ta,
                            const std::vector<float>& b, bool tb) {
  std::vector<double> c(static_cast<std::size_t>(s.m * s.n));
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j)
      for (std::int64_t p = 0; p < s.k; ++p)
        c[static_cast<std::size_t>(i * s.n + j)] +=
            static_cast<double>(a[static_cast<std::size_t>(ta ? p * s.m + i : i * s.k + p)]) *
            b[static_cast<std::size_t>(tb ? j * s.k + p : p * s.n + j)];
  return c;
}

TEST(Sgemm, AllTransposesAlphaAndBeta) {
  for (const Sizes& s : kSizes) {
    const auto a = random_floats(s.m * s.k, 1), b = random_floats(s.k * s.n, 2);
    const auto before = random_floats(s.m * s.n, 3);
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        auto expected = product(s, a, ta, b, tb);
        for (std::size_t i = 0; i < expected.size(); ++i)
          expected[i] = 2.0 * expected[i] + 0.5 * static_cast<double>(before[i]);
        std::vector<float> c = before;
        sgemm(ta ? Transpose::kYes : Transpose::kNo, tb ? Transpose::kYes : Transpose::kNo, s.m,
              s.n, s.k, 2.0F, a.data(), ta ? s.m : s.k, b.data(), tb ? s.k : s.n, 0.5F, c.data(),
              s.n);
        EXPECT_LT(difference(c, expected), 1e-5) << s.m << "x" << s.n << "x" << s.k << ta << tb;
      }
    }
  }
}

TEST(Sgemm, BetaZeroOverwritesWhateverWasThere) {
  std::vector<float> a(6, 1.0F), b(6, 1.0F), c(9, NAN);
  sgemm(Transpose::kNo, Transpose::kNo, 3, 3, 2, 1.0F, a.data(), 2, b.data(), 3, 0.0F, c.data(), 3);
  EXPECT_EQ(c, std::vector<float>(9, 2.0F));
}

TEST(PackedGemm, IsTheProductWithBiasAndActivation) {
  for (const Sizes& s : kSizes) {
    const auto a = random_floats(s.m * s.k, 1), b = random_floats(s.k * s.n, 2);
    const auto bias = random_floats(s.n, 3);
    for (const bool transposed : {false, true}) {
      const Floats rows(a), factor(b), offset(bias), c(static_cast<std::size_t>(s.m * s.n));
      const AlignedBytes packed(packed_b_bytes(s.k, s.n));
      pack_b(transposed ? Transpose::kYes : Transpose::kNo, s.k, s.n, factor.get(),
             transposed ? s.k : s.n, packed.get());
      auto expected = product(s, a, false, b, transposed);
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = std::min(6.0, std::max(0.0, expected[i] + bias[i % bias.size()]));
      std::fill_n(c.get(), s.m * s.n, NAN);
      packed_gemm(s.m, s.n, s.k, rows.get(), s.k, packed.get(), c.get(), s.n,
                  {offset.get(), FusedActivation::kRelu6});
      EXPECT_LT(difference(c.values(), expected), 1e-5) << s.m << "x" << s.n << "x" << s.k;
    }
  }
}

// Rows: the same bits alone, in any number, at any place, on one thread or many.
TEST(PackedGemm, ARowDoesNotDependOnTheOthers) {
  for (const Sizes& s : kSizes) {
    const auto a = random_floats(s.m * s.k, 1), b = random_floats(s.k * s.n, 2);
    const Floats rows(a), factor(b), all(static_cast<std::size_t>(s.m * s.n));
    const AlignedBytes packed(packed_b_bytes(s.k, s.n));
    pack_b(Transpose::kNo, s.k, s.n, factor.get(), s.n, packed.get());
    packed_gemm(s.m, s.n, s.k, rows.get(), s.k, packed.get(), all.get(), s.n, {});
    for (std::int64_t first = 0; first < s.m; first += 5) {
      for (const std::int64_t count : {1, 2, 9, 14}) {
        if (first + count > s.m) continue;
        const Floats some(static_cast<std::size_t>(count * s.n));
        packed_gemm_serial(count, s.n, s.k, rows.get() + first * s.k, s.k, packed.get(), some.get(),
                           s.n, {});
        ASSERT_TRUE(std::equal(some.get(), some.get() + count * s.n, all.get() + first * s.n))
            << s.m << "x" << s.n << "x" << s.k << " rows from " << first << ", " << count;
      }
    }
  }
}

TEST(PackedGemm, StridesLeaveTheGapsAlone) {
  const Sizes s{14, 20, 9};
  const auto a = random_floats(s.m * 11, 1), b = random_floats(s.k * 23, 2);
  const Floats rows(a), factor(b), c(static_cast<std::size_t>(s.m * 25));
  const AlignedBytes packed(packed_b_bytes(s.k, s.n));
  std::fill_n(c.get(), s.m * 25, 7.0F);
  pack_b(Transpose::kNo, s.k, s.n, factor.get(), 23, packed.get());
  packed_gemm(s.m, s.n, s.k, rows.get(), 11, packed.get(), c.get(), 25, {});
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < 25; ++j) {
      double expected = 0;
      for (std::int64_t p = 0; p < s.k; ++p)
        expected += static_cast<double>(rows[static_cast<std::size_t>(i * 11 + p)]) *
                    (j < s.n ? factor[static_cast<std::size_t>(p * 23 + j)] : 0.0F);
      EXPECT_NEAR(c[static_cast<std::size_t>(i * 25 + j)], j < s.n ? expected : 7.0, 1e-5);
    }
  }
}

// C[k x n] (+)= A[m x k]^T B[m x n]: here with the names of the header.
TEST(TransposedGemm, OverwritesOrAddsTheProduct) {
  for (const Sizes& s : kSizes) {
    const std::int64_t m = s.k, k = s.m, n = s.n;
    const auto a = random_floats(m * k, 1), b = random_floats(m * n, 2);
    const auto expect_times = [&](const Floats& c, double times) {
      auto expected = product({k, n, m}, a, true, b, false);
      for (double& v : expected) v *= times;
      EXPECT_LT(difference(c.values(), expected), 1e-5) << m << "x" << n << "x" << k;
    };
    const Floats left(a), right(b), c(static_cast<std::size_t>(k * n));
    std::fill_n(c.get(), k * n, NAN);
    gemm_transposed_a(m, n, k, left.get(), k, right.get(), n, false, c.get(), n);
    expect_times(c, 1);
    gemm_transposed_a(m, n, k, left.get(), k, right.get(), n, true, c.get(), n);
    expect_times(c, 2);
    gemm_transposed_a_serial(m, n, k, left.get(), k, right.get(), n, c.get(), n);
    expect_times(c, 3);
  }
}

TEST(FewRowsGemm, IsTheProductWithBias) {
  for (const Sizes& s : kSizes) {
    const auto a = random_floats(s.m * s.k, 1), b = random_floats(s.k * s.n, 2);
    const auto bias = random_floats(s.n, 3);
    auto expected = product(s, a, false, b, true);
    const Floats rows(a), factor(b), offset(bias), c(static_cast<std::size_t>(s.m * s.n));
    std::fill_n(c.get(), s.m * s.n, NAN);
    few_rows_gemm(s.m, s.n, s.k, rows.get(), s.k, factor.get(), s.k, nullptr, c.get(), s.n);
    EXPECT_LT(difference(c.values(), expected), 1e-5) << s.m << "x" << s.n << "x" << s.k;
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += bias[i % bias.size()];
    few_rows_gemm(s.m, s.n, s.k, rows.get(), s.k, factor.get(), s.k, offset.get(), c.get(), s.n);
    EXPECT_LT(difference(c.values(), expected), 1e-5) << s.m << "x" << s.n << "x" << s.k;
  }
}

// Tiles of all heights and any number of threads give the same bits.
TEST(FewRowsGemm, AnElementDoesNotDependOnTheOthers) {
  const int threads = thread_count();
  for (const Sizes& s : kSizes) {
    const Floats rows(random_floats(s.m * s.k, 1)), factor(random_floats(s.k * s.n, 2));
    const Floats all(static_cast<std::size_t>(s.m * s.n)), one(1);
    for (const int n : {1, 2, 3}) {
      set_thread_count(n);
      few_rows_gemm(s.m, s.n, s.k, rows.get(), s.k, factor.get(), s.k, nullptr, all.get(), s.n);
      for (std::int64_t i = 0; i < s.m; i += 4) {
        for (std::int64_t j = 0; j < s.n; j += 3) {
          few_rows_gemm(1, 1, s.k, rows.get() + i * s.k, s.k, factor.get() + j * s.k, s.k, nullptr,
                        one.get(), 1);
          ASSERT_EQ(one[0], all[static_cast<std::size_t>(i * s.n + j)]);
        }
      }
    }
  }
  set_thread_count(threads);
}

TEST(ColumnSum, SumsAndAccumulates) {
  for (const std::int64_t rows : {1, 2, 63, 64, 65, 5000}) {
    for (const std::int64_t columns : {1, 3, 16, 17, 96}) {
      const Floats x(random_floats(rows * columns, 5));
      const Floats sums(static_cast<std::size_t>(columns));
      const AlignedBytes workspace(column_sum_workspace(rows, columns));
      std::vector<double> expected(static_cast<std::size_t>(columns));
      for (std::int64_t i = 0; i < rows * columns; ++i)
        expected[static_cast<std::size_t>(i % columns)] += x[static_cast<std::size_t>(i)];
      std::fill_n(sums.get(), columns, NAN);
      column_sum(rows, columns, x.get(), sums.get(), false, workspace.get());
      EXPECT_LT(difference(sums.values(), expected), 1e-5);
      column_sum(rows, columns, x.get(), sums.get(), true, workspace.get());
      for (double& v : expected) v *= 2;
      EXPECT_LT(difference(sums.values(), expected), 1e-5);
    }
  }
}

// A plan holds the workspace, and a night's record the bits: neither may depend on the machine's
// threads. Rows are cut in two, so the bits are those of a sum of two halves.
TEST(ColumnSum, BytesAndBitsDependOnTheSizesAlone) {
  const int threads = thread_count();
  for (const std::int64_t rows : {64, 127, 128, 1024, 5000, 70000}) {
    for (const std::int64_t columns : {1, 3, 16, 33, 96, 1000}) {
      if (rows * columns > 8'000'000) continue;
      const Floats x(random_floats(rows * columns, 5));
      std::vector<std::size_t> bytes;
      std::vector<std::vector<float>> found;
      for (const int n : {1, 2, 3, 4, 7, 16}) {
        set_thread_count(n);
        bytes.push_back(column_sum_workspace(rows, columns));
        const AlignedBytes workspace(bytes.back());
        const Floats sums(static_cast<std::size_t>(columns));
        std::fill_n(sums.get(), columns, NAN);
        column_sum(rows, columns, x.get(), sums.get(), false, workspace.get());
        column_sum(rows, columns, x.get(), sums.get(), true, workspace.get());
        found.push_back(sums.values());
      }
      for (std::size_t i = 1; i < found.size(); ++i) {
        EXPECT_EQ(bytes[i], bytes[0]) << rows << " x " << columns;
        EXPECT_EQ(found[i], found[0]) << rows << " x " << columns;
      }
    }
  }
  set_thread_count(threads);
}

TEST(FusedActivationWords, RoundTripAndRefusal) {
  for (const auto a : {FusedActivation::kNone, FusedActivation::kRelu, FusedActivation::kRelu6})
    EXPECT_EQ(fused_activation(to_string(a)), a);
  EXPECT_THROW((void)fused_activation("swoosh"), Error);
}

}  // namespace
}  // namespace moil
