#include "datasets/sampling/per_class.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace moil::data {
namespace {

// The first of a shuffle: more of the same seed hold fewer.
void draw(std::vector<std::size_t>& from, std::size_t count, std::uint64_t seed,
          std::vector<std::size_t>& drawn) {
  Random random(seed);
  random.shuffle(std::span(from));
  drawn.insert(drawn.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
}

std::size_t sum_up_to(std::span<const std::size_t> shares, std::size_t most) {
  std::size_t sum = 0;
  for (const std::size_t share : shares) sum += std::min(share, most);
  return sum;
}

// Cuts the classes' sizes to the height at which they are `limit` together; what is left over goes
// to classes that the seed names.
void cut_to(std::vector<std::size_t>& sizes, std::size_t limit, std::uint64_t seed) {
  const std::size_t highest = sizes.empty() ? 0 : std::ranges::max(sizes);
  if (sum_up_to(sizes, highest) <= limit) return;
  std::size_t height = 0;
  for (std::size_t step = std::bit_floor(highest); step > 0; step /= 2) {
    if (sum_up_to(sizes, height + step) <= limit) height += step;
  }
  std::size_t left = limit - sum_up_to(sizes, height);
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(derive_seed(seed, "gdm/limit"));
  random.shuffle(std::span(order));
  for (const std::size_t k : order) {
    if (sizes[k] <= height) continue;
    sizes[k] = height + (left > 0 ? 1 : 0);
    if (left > 0) --left;
  }
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
                                          std::uint64_t seed, std::optional<std::size_t> limit) {
  (void)share_of(0, alpha);  // checked even if there is nothing to draw from
  std::vector<std::vector<std::size_t>> members(classes.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes.size()) {
      throw Error(ErrorCode::kInvalidArgument, "sample " + std::to_string(i) + " is of class " +
                                                   std::to_string(labels[i]) + ", there are " +
                                                   std::to_string(classes.size()));
    }
    members[labels[i]].push_back(i);
  }
  std::vector<std::size_t> most;
  for (const auto& of_class : members) most.push_back(of_class.size());
  if (limit) cut_to(most, *limit, seed);
  std::vector<std::size_t> drawn;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const std::size_t share = std::min(share_of(members[k].size(), alpha), most[k]);
    draw(members[k], share, derive_seed(seed, "gdm/" + classes[k]), drawn);
  }
  std::ranges::sort(drawn);
  return drawn;
}

std::vector<std::size_t> sample_over_all(std::size_t n, double alpha, std::uint64_t seed,
                                         std::optional<std::size_t> limit) {
  std::vector<std::size_t> all(n), drawn;
  std::iota(all.begin(), all.end(), 0);
  const std::size_t share = share_of(n, alpha);
  draw(all, std::min(share, limit.value_or(share)), derive_seed(seed, "gdm"), drawn);
  std::ranges::sort(drawn);
  return drawn;
}

std::vector<std::size_t> sample_training(const Dataset& dataset, double alpha, std::uint64_t seed,
                                         std::optional<std::size_t> limit,
                                         bool labels_are_numbers) {
  const auto training = samples_of(dataset, Split::kTrain);
  std::vector<ClassId> labels;
  for (const std::size_t i : training) {
    if (dataset.labels(i).size() == 1) labels.push_back(dataset.labels(i)[0]);
  }
  auto drawn = labels.size() == training.size() && !labels_are_numbers
                   ? sample_per_class(labels, dataset.classes(), alpha, seed, limit)
                   : sample_over_all(training.size(), alpha, seed, limit);
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
