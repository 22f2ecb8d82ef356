// Convolution as its definition says, in double precision, and what tests need around it.
#pragma once

#include <cmath>
#include <cstdint>
#include <new>
#include <random>
#include <vector>

#include "engine/kernels/convolution/conv_shape.h"

namespace moil::test {

// Memory aligned as the pool's; its size is exact, so that a sanitizer sees what is beyond.
template <class T>
class Aligned {
 public:
  explicit Aligned(std::size_t count = 0)
      : count_(count),
        data_(static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{64}))) {}
  explicit Aligned(const std::vector<T>& values) : Aligned(values.size()) {
    std::copy(values.begin(), values.end(), data_);
  }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  ~Aligned() { ::operator delete (data_, std::align_val_t{64}); }
  T* get() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }
  std::vector<T> values() const { return {data_, data_ + count_}; }

 private:
  std::size_t count_;
  T* data_;
};
using Floats = Aligned<float>;
using AlignedBytes = Aligned<std::byte>;

inline std::vector<float> random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = uniform(random);
  return values;
}

// Where a weight lies: [g][KH][KW][I/g][O/g], depthwise [KH][KW][C].
inline std::size_t weight_at(const ConvShape& s, std::int64_t o, std::int64_t i, std::int64_t ky,
                             std::int64_t kx) {
  const std::int64_t k = ky * s.kernel_w + kx;
  if (s.depthwise()) return static_cast<std::size_t>(k * s.in_channels + o);
  const std::int64_t g = o / s.group_out();
  return static_cast<std::size_t>(((g * s.kernel_area() + k) * s.group_in() + i) * s.group_out() +
                                  o % s.group_out());
}

// Calls visit(input index, weight index, output index) for every product of the convolution.
template <class Visit>
void for_each_product(const ConvShape& s, const Visit& visit) {
  const std::int64_t oh = s.out_h(), ow = s.out_w();
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t y = 0; y < oh; ++y)
      for (std::int64_t x = 0; x < ow; ++x)
        for (std::int64_t ky = 0; ky < s.kernel_h; ++ky)
          for (std::int64_t kx = 0; kx < s.kernel_w; ++kx) {
            const std::int64_t iy = y * s.stride_h - s.pad_top + ky * s.dilation_h;
            const std::int64_t ix = x * s.stride_w - s.pad_left + kx * s.dilation_w;
            if (iy < 0 || ix < 0 || iy >= s.in_h || ix >= s.in_w) continue;
            for (std::int64_t o = 0; o < s.out_channels; ++o)
              for (std::int64_t i = 0; i < s.group_in(); ++i) {
                const std::int64_t channel = o / s.group_out() * s.group_in() + i;
                visit(static_cast<std::size_t>(((n * s.in_h + iy) * s.in_w + ix) * s.in_channels +
                                               channel),
                      weight_at(s, o, i, ky, kx),
                      static_cast<std::size_t>(((n * oh + y) * ow + x) * s.out_channels + o));
              }
          }
}

struct ConvReference {
  std::vector<double> output, input_derivative, weight_gradient, bias_gradient;

  ConvReference(const ConvShape& s, const std::vector<float>& x, const std::vector<float>& w,
                const std::vector<float>& bias, const std::vector<float>& dy)
      : output(static_cast<std::size_t>(s.out_elements())),
        input_derivative(x.size()),
        weight_gradient(w.size()),
        bias_gradient(bias.size()) {
    for_each_product(s, [&](std::size_t i, std::size_t k, std::size_t o) {
      output[o] += static_cast<double>(x[i]) * w[k];
      input_derivative[i] += static_cast<double>(dy[o]) * w[k];
      weight_gradient[k] += static_cast<double>(dy[o]) * x[i];
    });
    for (std::size_t o = 0; o < output.size(); ++o) {
      output[o] += bias[o % bias.size()];
      bias_gradient[o % bias.size()] += dy[o];
    }
  }
};

// The largest difference, relative to the largest magnitude that was expected.
inline double difference(const std::vector<float>& got, const std::vector<double>& expected) {
  double worst = 0, scale = 1e-6;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double d = std::abs(got[i] - expected[i]);
    worst = std::isnan(d) ? d : std::isnan(worst) ? worst : std::max(worst, d);
    scale = std::max(scale, std::abs(expected[i]));
  }
  return got.size() == expected.size() ? worst / scale : INFINITY;
}

inline ConvShape shape(std::int64_t batch, std::int64_t in, std::int64_t h, std::int64_t w,
                       std::int64_t out, std::int64_t kernel, std::int64_t stride = 1,
                       std::int64_t pad = 0, std::int64_t groups = 1, std::int64_t dilation = 1) {
  ConvShape s;
  s.batch = batch, s.in_channels = in, s.in_h = h, s.in_w = w, s.out_channels = out;
  s.kernel_h = s.kernel_w = kernel, s.stride_h = s.stride_w = stride;
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = pad;
  s.groups = groups, s.dilation_h = s.dilation_w = dilation;
  return s;
}

// Shapes with what is awkward: odd channels, strides, dilation, asymmetric padding, groups.
inline std::vector<ConvShape> awkward_shapes() {
  std::vector<ConvShape> list = {
      shape(1, 1, 1, 1, 1, 1),
      shape(2, 3, 7, 5, 5, 1),
      shape(3, 24, 4, 4, 40, 1),
      shape(2, 16, 9, 9, 96, 1),
      shape(1, 300, 3, 2, 33, 1),
      shape(2, 5, 8, 7, 3, 1, 2),
      shape(2, 3, 9, 11, 8, 3, 1, 1),
      shape(2, 3, 11, 9, 32, 3, 2, 1),
      shape(1, 16, 12, 10, 16, 3, 1, 1),
      shape(2, 32, 8, 8, 64, 3, 1, 1),
      shape(1, 5, 9, 9, 7, 5, 3, 2),
      shape(2, 4, 10, 10, 6, 3, 1, 2, 1, 2),
      shape(1, 3, 13, 13, 4, 3, 2, 2, 1, 3),
      shape(2, 6, 7, 7, 9, 3, 1, 1, 3),
      shape(2, 8, 6, 6, 16, 1, 1, 0, 4),
      shape(1, 8, 9, 9, 8, 3, 2, 1, 2),
      shape(1, 4, 6, 6, 8, 3, 1, 1, 4),
      shape(1, 2, 5, 5, 3, 2, 3, 0),
      shape(2, 7, 3, 3, 5, 3),
      shape(1, 3, 5, 5, 2, 3, 1, 4),
      // depthwise
      shape(2, 3, 7, 7, 3, 3, 1, 1, 3),
      shape(2, 24, 10, 12, 24, 3, 1, 1, 24),
      shape(2, 24, 11, 9, 24, 3, 2, 1, 24),
      shape(1, 37, 14, 14, 37, 5, 1, 2, 37),
      shape(1, 40, 15, 15, 40, 5, 2, 2, 40),
      shape(2, 5, 9, 9, 5, 3, 1, 2, 5, 2),
      shape(1, 19, 8, 8, 19, 3, 3, 0, 19),
      shape(1, 2, 4, 4, 2, 1, 2, 0, 2),
      shape(1, 2, 20, 20, 2, 12, 3, 5, 2),
  };
  ConvShape s = shape(2, 5, 9, 8, 6, 3, 2);
  s.pad_bottom = s.pad_right = 1;  // "same", as TensorFlow pads
  list.push_back(s);
  s = shape(2, 20, 9, 8, 20, 3, 2, 0, 20);
  s.pad_bottom = s.pad_right = 1;
  list.push_back(s);
  s = shape(1, 6, 12, 9, 4, 1);
  s.kernel_h = 5, s.kernel_w = 2, s.stride_h = 1, s.stride_w = 3, s.pad_top = 3, s.pad_left = 1;
  list.push_back(s);
  s = shape(2, 18, 12, 9, 18, 1, 1, 0, 18);
  s.kernel_h = 1, s.kernel_w = 7, s.stride_h = 2, s.pad_left = 3, s.pad_right = 2, s.dilation_w = 2;
  s.pad_top = 1;
  list.push_back(s);
  return list;
}

}  // namespace moil::test
