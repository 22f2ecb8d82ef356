#include "datasets/sampling/per_class.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "datasets/identity/random.h"

namespace moil::data {
namespace {

// The first share of a shuffle: a larger share of the same seed holds a smaller one.
void draw(std::vector<std::size_t>& from, double alpha, std::uint64_t seed,
          std::vector<std::size_t>& drawn) {
  Random random(seed);
  random.shuffle(std::span(from));
  const auto count = static_cast<std::ptrdiff_t>(share_of(from.size(), alpha));
  drawn.insert(drawn.end(), from.begin(), from.begin() + count);
}

}  // namespace

std::size_t share_of(std::size_t n, double alpha) {
  if (!(alpha >= 0 && alpha <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                "alpha is " + std::to_string(alpha) + ", expected 0 to 1");
  }
  if (alpha == 0 || n == 0) return 0;
  const auto wanted = static_cast<std::size_t>(std::llround(alpha * static_cast<double>(n)));
  return std::max<std::size_t>(wanted, 1);
}

std::vector<std::size_t> sample_per_class(std::span<const ClassId> labels,
                                          std::span<const std::string> classes, double alpha,
                                          std::uint64_t seed) {
  (void)share_of(0, alpha);  // checked also where there is nothing to draw from
  std::vector<std::vector<std::size_t>> members(classes.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes.size()) {
      throw Error(ErrorCode::kInvalidArgument, "sample " + std::to_string(i) + " is of class " +
                                                   std::to_string(labels[i]) + ", there are " +
                                                   std::to_string(classes.size()));
    }
    members[labels[i]].push_back(i);
  }
  std::vector<std::size_t> drawn;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    draw(members[k], alpha, derive_seed(seed, "gdm/" + classes[k]), drawn);
  }
  std::ranges::sort(drawn);
  return drawn;
}

std::vector<std::size_t> sample_over_all(std::size_t n, double alpha, std::uint64_t seed) {
  std::vector<std::size_t> all(n), drawn;
  std::iota(all.begin(), all.end(), 0);
  draw(all, alpha, derive_seed(seed, "gdm"), drawn);
  std::ranges::sort(drawn);
  return drawn;
}

std::vector<std::size_t> sample_training(const Dataset& dataset, double alpha, std::uint64_t seed) {
  const auto training = samples_of(dataset, Split::kTrain);
  std::vector<ClassId> labels;
  for (const std::size_t i : training) {
    if (dataset.labels(i).size() == 1) labels.push_back(dataset.labels(i)[0]);
  }
  auto drawn = labels.size() == training.size()
                   ? sample_per_class(labels, dataset.classes(), alpha, seed)
                   : sample_over_all(training.size(), alpha, seed);
  for (std::size_t& i : drawn) i = training[i];
  return drawn;
}

std::vector<std::size_t> epoch_order(std::size_t n, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  Random random(derive_seed(seed, "epoch/" + std::to_string(epoch)));
  random.shuffle(std::span(order));
  return order;
}

}  // namespace moil::data
