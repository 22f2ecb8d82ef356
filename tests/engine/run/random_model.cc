// Random networks: see models.h.
#include <algorithm>
#include <random>

#include "tests/engine/model/models.h"

namespace moil::test {
namespace {

constexpr const char* kActivations[] = {
    "relu", "relu6", "leaky_relu", "sigmoid", "tanh", "hard_sigmoid", "hard_swish", "silu", "gelu"};

class RandomModel {
 public:
  explicit RandomModel(unsigned seed)
      : random_(seed),
        channels_(2 + below(5)),
        side_(5 + below(6)),
        builder_(seed % 4 == 3 ? std::vector{channels_} : std::vector{channels_, side_, side_}) {
    if (seed % 4 == 3) side_ = 0;  // vectors
  }

  ModelDescription build() {
    for (std::int64_t blocks = 2 + below(5); blocks > 0; --blocks)
      image() ? image_block() : block();
    if (image()) leave_images();
    for (std::int64_t blocks = below(3); blocks > 0; --blocks) block();
    return builder_.fc(3).model();
  }

 private:
  std::int64_t below(unsigned n) { return static_cast<std::int64_t>(random_() % n); }
  bool image() const { return side_ > 0; }

  void activation() { builder_.layer(kActivations[below(std::size(kActivations))]); }
  void dropout() { builder_.layer("dropout", {{"rate", 0.3}}); }
  void norm() {
    if (below(2) == 0) builder_.norm();
  }

  void image_block() {
    switch (below(8)) {
      case 0:
        return pool();
      case 1:
        return residual();
      case 2:
        return concatenation();
      case 3:
        return gate();
      case 4:
        return depthwise();
      case 5:
        return side_ > 4 && below(3) == 0 ? dropout() : activation();
      default:
        return convolution();
    }
  }

  void convolution() {
    const std::int64_t stride = side_ >= 6 ? 1 + below(2) : 1;
    channels_ = 2 + below(7);
    builder_.conv(channels_, below(2) == 0 ? 1 : 3, stride);
    side_ = (side_ + stride - 1) / stride;
    norm();
    activation();
  }

  void depthwise() {
    builder_.conv(channels_, 3, 1, channels_);
    norm();
    activation();
  }

  void pool() {
    if (side_ < 4) return activation();
    const std::string type = below(2) == 0 ? "max_pool" : "average_pool";
    if (below(2) == 0) {
      builder_.layer(type, {{"kernel", std::int64_t{2}}});
      side_ /= 2;
    } else {
      builder_.layer(
          type,
          {{"kernel", std::int64_t{3}}, {"stride", std::int64_t{1}}, {"padding", std::int64_t{1}}});
    }
  }

  void residual() {
    const std::string skip = builder_.last();
    for (std::int64_t convs = 1 + below(2); convs > 0; --convs) {
      builder_.conv(channels_, 3);
      norm();
      if (convs > 1 || below(2) == 0) activation();
    }
    std::vector<std::string> parts{builder_.last(), skip};
    if (below(2) == 0) std::swap(parts[0], parts[1]);
    if (below(5) == 0) parts.push_back(skip);
    builder_.layer("add", {}, parts);
    if (below(2) == 0) builder_.relu();
  }

  void concatenation() {
    const std::string start = builder_.last();
    std::vector<std::string> parts;
    std::int64_t total = 0;
    for (std::int64_t branches = 2 + below(2); branches > 0; --branches) {
      builder_.go_back(start);
      const std::int64_t width = 1 + below(4);
      if (below(4) == 0) {
        activation();
        total += channels_;
      } else {
        builder_.conv(width, branches % 2 == 0 ? 1 : 3);
        norm();
        if (below(2) == 0) activation();
        total += width;
      }
      parts.push_back(builder_.last());
    }
    builder_.layer("concat", {}, parts);
    channels_ = total;
  }

  void gate() {
    const std::string features = builder_.last();
    builder_.layer("global_average_pool").fc(channels_);
    builder_.layer(below(2) == 0 ? "sigmoid" : "hard_sigmoid");
    builder_.layer("multiply", {}, {features, builder_.last()});
  }

  void leave_images() {
    if (below(2) == 0) {
      builder_.layer("global_average_pool");
    } else {
      builder_.layer("flatten");
      channels_ *= side_ * side_;
    }
    side_ = 0;
  }

  void block() {
    switch (below(5)) {
      case 0:
        return dropout();
      case 1: {
        const std::string skip = builder_.last();
        builder_.fc(channels_);
        activation();
        builder_.layer("add", {}, {builder_.last(), skip});
        return;
      }
      case 2:
        builder_.norm();
        return;
      default:
        channels_ = 3 + below(12);
        builder_.fc(channels_);
        activation();
    }
  }

  std::mt19937 random_;
  std::int64_t channels_, side_;
  ModelBuilder builder_;
};

}  // namespace

ModelDescription random_model(unsigned seed) { return RandomModel(seed).build(); }

}  // namespace moil::test
