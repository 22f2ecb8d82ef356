// A network that has diverged shows it: no kernel makes a number of what is none, or of what is
// infinite, on any instruction set. The program emulated_kernels_tests runs the same with vectors
// in plain C++, whose smallest and largest drop a NaN as ARM's do.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/kernels/convolution/depthwise.h"
#include "engine/kernels/convolution/pooling.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/kernels/rows/loss.h"
#include "engine/kernels/rows/pointwise.h"
#include "engine/kernels/rows/softmax.h"
#include "tests/engine/kernels/activation_formula.h"
#include "tests/engine/kernels/instruction_sets.h"

namespace moil {
namespace {

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
// A whole vector of every instruction set, narrower ones behind it, and a rest.
constexpr std::int64_t kWidth = 39;

using NumberList = std::vector<float>;

// From -1.9 to 1.9, all different.
NumberList plain(std::int64_t size = kWidth) {
  NumberList values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = -1.9F + 3.8F * static_cast<float>(i) / static_cast<float>(values.size());
  return values;
}

// `make` fills its second argument from the first: a NaN comes out where one came in, and nowhere
// else, wherever it stands.
void expect_it_stays(const std::string& what,
                     const std::function<void(const NumberList&, NumberList&)>& make) {
  for (std::size_t at = 0; at < static_cast<std::size_t>(kWidth); ++at) {
    NumberList in = plain(), out(in.size());
    in[at] = kNotANumber;
    make(in, out);
    for (std::size_t i = 0; i < out.size(); ++i)
      EXPECT_EQ(std::isnan(out[i]), i == at)
          << what << ": a NaN at " << at << " makes " << out[i] << " at " << i;
  }
}

void check_activations() {
  constexpr float kSlope = 0.25F;
  for (const ActivationKind kind : kActivationKinds) {
    const std::string name(to_string(kind));
    expect_it_stays(name, [&](const NumberList& in, NumberList& out) {
      activate(kind, kSlope, in.data(), out.data(), 0, kWidth);
    });
    expect_it_stays("the derivative of " + name, [&](const NumberList& dy, NumberList& dx) {
      activation_derivative(kind, kSlope, plain().data(), dy.data(), dx.data(), 0, kWidth);
    });
    for (const float x : {kInfinity, -kInfinity, 1e30F, -1e30F}) {
      const NumberList in(static_cast<std::size_t>(kWidth), x);
      NumberList out(in.size());
      activate(kind, kSlope, in.data(), out.data(), 0, kWidth);
      const double expected = test::activation_formula(kind, double{kSlope}, double{x});
      for (const float found : out) {
        EXPECT_EQ(std::isfinite(found), std::isfinite(expected)) << name << "(" << x << ")";
        if (std::isfinite(expected)) {
          EXPECT_NEAR(found, expected, 1e-6 * std::fabs(expected) + 1e-6) << name;
        }
      }
    }
  }
}

constexpr FusedActivation kFused[] = {FusedActivation::kNone, FusedActivation::kRelu,
                                      FusedActivation::kRelu6};

// Rows of a product: one NaN among the factors is one in every column of its row.
void check_products() {
  constexpr std::int64_t kRows = 14, kDepth = 3;
  for (const FusedActivation activation : kFused) {
    for (const float wrong : {kNotANumber, kInfinity}) {
      for (std::int64_t row = 0; row < kRows; ++row) {
        NumberList a(kRows * kDepth, 0.5F), b(kDepth * kWidth, 1.0F), c(kRows * kWidth);
        a[static_cast<std::size_t>(row * kDepth + 1)] = wrong;
        std::vector<std::byte> packed(packed_b_bytes(kDepth, kWidth) + 64);
        auto* aligned = packed.data() + (64 - reinterpret_cast<std::uintptr_t>(packed.data()) % 64);
        pack_b(Transpose::kNo, kDepth, kWidth, b.data(), kWidth, aligned);
        packed_gemm_serial(kRows, kWidth, kDepth, a.data(), kDepth, aligned, c.data(), kWidth,
                           {nullptr, activation});
        for (std::int64_t i = 0; i < kRows * kWidth; ++i) {
          const float found = c[static_cast<std::size_t>(i)];
          if (i / kWidth != row)
            EXPECT_EQ(found, 1.5F);
          else if (std::isnan(wrong))
            EXPECT_TRUE(std::isnan(found)) << to_string(activation) << " makes it " << found;
          else
            EXPECT_EQ(found, activation == FusedActivation::kRelu6 ? 6.0F : kInfinity);
        }
      }
    }
  }
}

void check_depthwise_convolutions() {
  ConvShape shape;
  shape.in_channels = shape.out_channels = shape.groups = kWidth;
  shape.in_h = shape.in_w = 4;
  shape.kernel_h = shape.kernel_w = 3;
  shape.pad_top = shape.pad_left = shape.pad_bottom = shape.pad_right = 1;
  const NumberList weights(static_cast<std::size_t>(shape.weight_elements()), 1.0F);
  for (const FusedActivation activation : kFused) {
    expect_it_stays("depthwise, " + std::string(to_string(activation)), [&](const NumberList& pixel,
                                                                            NumberList& sums) {
      NumberList image, result(static_cast<std::size_t>(shape.out_elements()));
      for (int p = 0; p < 16; ++p) image.insert(image.end(), pixel.begin(), pixel.end());
      depthwise_forward(shape, image.data(), weights.data(), {nullptr, activation}, result.data());
      for (std::size_t i = 0; i < result.size(); ++i) {
        EXPECT_EQ(std::isnan(result[i]), std::isnan(pixel[i % kWidth]));
        sums[i % kWidth] += result[i];
      }
    });
  }
}

struct Loss {
  const char* name;
  std::function<double(const float*, const float*, std::int64_t)> value;
  std::function<void(const float*, const float*, float*, std::int64_t)> slope;
  double at_infinity;  // the slope there, of a target of 0
};

std::vector<Loss> losses() {
  constexpr float kDelta = 0.75F;
  return {
      {"sigmoid cross-entropy",
       [](auto x, auto t, auto n) { return sigmoid_cross_entropy(x, t, 0, n); },
       [](auto x, auto t, auto dx, auto n) { sigmoid_cross_entropy_derivative(x, t, dx, 1, 0, n); },
       1.0},
      {"squared error", [](auto x, auto t, auto n) { return squared_error(x, t, 0, n); },
       [](auto x, auto t, auto dx, auto n) { squared_error_derivative(x, t, dx, 1, 0, n); },
       double{kInfinity}},
      {"Huber error", [](auto x, auto t, auto n) { return huber_error(x, t, kDelta, 0, n); },
       [](auto x, auto t, auto dx, auto n) { huber_error_derivative(x, t, dx, kDelta, 1, 0, n); },
       double{kDelta}}};
}

void check_losses() {
  for (const Loss& loss : losses()) {
    NumberList none(static_cast<std::size_t>(kWidth), 0.0F);
    expect_it_stays(
        std::string("the slope of ") + loss.name, [&](const NumberList& x, NumberList& dx) {
          loss.slope(x.data(), none.data(), dx.data(), kWidth);
          EXPECT_TRUE(std::isnan(loss.value(x.data(), none.data(), kWidth))) << loss.name;
          NumberList masked = none;  // a target that is none counts nothing, whatever the output is
          for (std::size_t i = 0; i < x.size(); ++i)
            if (std::isnan(x[i])) masked[i] = kNotANumber;
          EXPECT_TRUE(std::isfinite(loss.value(x.data(), masked.data(), kWidth))) << loss.name;
        });
    NumberList x = plain(), dx(x.size());
    x[17] = kInfinity;
    EXPECT_FALSE(std::isfinite(loss.value(x.data(), none.data(), kWidth))) << loss.name;
    loss.slope(x.data(), none.data(), dx.data(), kWidth);
    EXPECT_EQ(double{dx[17]}, loss.at_infinity) << loss.name;
  }
}

// Rows: what is none anywhere in it is none everywhere.
void check_softmax() {
  using Rows = std::function<void(const NumberList&, NumberList&)>;
  const NumberList target(static_cast<std::size_t>(kWidth), 1.0F / kWidth);
  NumberList open(target.size(), kNotANumber);
  for (std::size_t i = 0; i < open.size(); i += 3) open[i] = 0;
  const std::pair<const char*, Rows> all[] = {
      {"softmax",
       [](const NumberList& x, NumberList& y) { softmax(x.data(), y.data(), kWidth, 0, 1); }},
      {"log_softmax",
       [](const NumberList& x, NumberList& y) { log_softmax(x.data(), y.data(), kWidth, 0, 1); }},
      {"cross-entropy's slope",
       [&](const NumberList& x, NumberList& y) {
         softmax_cross_entropy_derivative(x.data(), target.data(), y.data(), 1, kWidth, 0, 1);
       }},
      {"cross-entropy's slope, many may be it", [&](const NumberList& x, NumberList& y) {
         softmax_cross_entropy_derivative(x.data(), open.data(), y.data(), 1, kWidth, 0, 1);
       }}};
  for (std::size_t at = 0; at < static_cast<std::size_t>(kWidth); ++at) {
    NumberList x = plain(), y(x.size());
    x[at] = kNotANumber;
    for (const auto& [name, make] : all) {
      make(x, y);
      for (const float found : y) EXPECT_TRUE(std::isnan(found)) << name << ", a NaN at " << at;
    }
    for (const NumberList& held_against : {target, open}) {
      double loss = 0;
      x[at] = kNotANumber;
      softmax_cross_entropy(x.data(), held_against.data(), &loss, kWidth, 0, 1);
      EXPECT_TRUE(std::isnan(loss)) << at;
      x[at] = kInfinity;
      softmax_cross_entropy(x.data(), held_against.data(), &loss, kWidth, 0, 1);
      EXPECT_FALSE(std::isfinite(loss)) << at;
    }
  }
}

void check_the_others() {
  const NumberList halves(static_cast<std::size_t>(kWidth), 0.5F);
  expect_it_stays("clamp", [](const NumberList& in, NumberList& out) {
    clamp(in.data(), -1, 1, out.data(), 0, kWidth);
  });
  expect_it_stays("scale_shift", [](const NumberList& in, NumberList& out) {
    scale_shift(in.data(), 2, 1, out.data(), 0, kWidth);
  });
  expect_it_stays("reciprocal", [](const NumberList& in, NumberList& out) {
    reciprocal(in.data(), out.data(), 0, kWidth);
  });
  for (const auto& [name, extreme] : {std::pair("larger", &larger), std::pair("smaller", &smaller)})
    for (const bool first : {false, true})
      expect_it_stays(name, [&, extreme = extreme](const NumberList& in, NumberList& out) {
        const float *x = in.data(), *y = halves.data();
        extreme(first ? x : y, first ? y : x, out.data(), 0, kWidth);
      });
  expect_it_stays("prelu", [&](const NumberList& in, NumberList& out) {
    prelu(in.data(), halves.data(), out.data(), kWidth, 0, 1);
  });
  PoolShape pool;
  pool.channels = kWidth;
  pool.in_h = pool.in_w = pool.kernel_h = pool.kernel_w = 2;
  for (std::size_t place = 0; place < 4; ++place) {
    const auto pooled = [&](const auto& function) {
      return [&, place, function](const NumberList& pixel, NumberList& out) {
        NumberList image;
        for (std::size_t p = 0; p < 4; ++p) {
          const NumberList other = plain();
          const NumberList& from = p == place ? pixel : other;
          image.insert(image.end(), from.begin(), from.end());
        }
        function(image.data(), out.data());
      };
    };
    expect_it_stays("max_pool", pooled([&](const float* in, float* out) {
                      max_pool(pool, in, out, nullptr, 0, 1);
                    }));
    expect_it_stays("average_pool", pooled([&](const float* in, float* out) {
                      average_pool(pool, in, out, 0, 1);
                    }));
  }
}

TEST(NotANumber, StaysOneOnEveryInstructionSet) {
  test::for_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    check_activations();
    check_products();
    check_depthwise_convolutions();
    check_losses();
    check_softmax();
    check_the_others();
  });
}

}  // namespace
}  // namespace moil
