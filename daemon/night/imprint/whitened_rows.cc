#include "daemon/night/imprint/whitened_rows.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "engine/kernels/gemm/cholesky.h"
#include "engine/kernels/gemm/gemm.h"

namespace moil::night {
namespace {

constexpr std::size_t kMeansAtOnce = 256;
constexpr std::uint32_t kNoPlace = std::numeric_limits<std::uint32_t>::max();

double dot(const float* a, const float* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

// C += scale * transpose(rows) * rows, of [count x width] rows.
void add_products(float scale, const float* rows, std::size_t count, std::size_t width,
                  std::vector<float>& c) {
  const auto p = wide(width);
  if (count > 0)
    sgemm(Transpose::kYes, Transpose::kNo, p, p, wide(count), scale, rows, p, rows, p, 1, c.data(),
          p);
}

// [m x n], of a [m x width] and b [n x width]; so little that threads would only wait for each
// other.
std::vector<float> products_of(const float* a, std::size_t m, const float* b, std::size_t n,
                               std::size_t width) {
  std::vector<float> c(m * n);
  if (m > 0 && n > 0)
    sgemm_serial(Transpose::kNo, Transpose::kYes, wide(m), wide(n), wide(width), 1, a, wide(width),
                 b, wide(width), 0, c.data(), wide(n));
  return c;
}

}  // namespace

WhitenedRows::WhitenedRows(const Input& input)
    : in_(input),
      describes_(input.fresh > 1 && std::ranges::any_of(input.samples, &FoldedSample::described)),
      whitens_(input.width <= kWidestWhitened) {
  centre();
  number_classes();
  take_means();
  if (whitens_) whiten();
}

// At the mean of known samples; without any that tell it, at that of all that do.
void WhitenedRows::centre() {
  const auto is_known = [&](const FoldedSample& s) { return tells(s) && !s.gets_row(in_.known); };
  const bool any = std::ranges::any_of(in_.samples, is_known);
  std::vector<double> sum(in_.width);
  std::size_t count = 0;
  for (std::size_t i = 0; i < in_.samples.size(); ++i) {
    if (!tells(in_.samples[i]) || (any && !is_known(in_.samples[i]))) continue;
    for (std::size_t j = 0; j < in_.width; ++j) sum[j] += double{features_of(i)[j]};
    ++count;
  }
  middle_.resize(in_.width);
  for (std::size_t j = 0; j < in_.width; ++j)
    middle_[j] = static_cast<float>(sum[j] / static_cast<double>(std::max<std::size_t>(1, count)));
  for (std::size_t i = 0; i < in_.samples.size(); ++i)
    for (std::size_t j = 0; j < in_.width; ++j) features_of(i)[j] -= middle_[j];
}

void WhitenedRows::number_classes() {
  std::vector<std::uint32_t> of_known(in_.known + 1, kNoPlace);  // and of no class
  auto places = static_cast<std::uint32_t>(in_.fresh);
  for (const FoldedSample& sample : in_.samples) {
    if (!tells(sample)) {
      place_.push_back(kNoPlace);
      continue;
    }
    ++telling_;
    if (sample.gets_row(in_.known)) {
      place_.push_back(static_cast<std::uint32_t>(sample.label - in_.known));
      continue;
    }
    std::uint32_t& place = of_known[std::min<std::size_t>(sample.label, in_.known)];
    if (place == kNoPlace) place = places++;
    place_.push_back(place);
  }
  count_.assign(places, 0);
  for (const std::uint32_t place : place_)
    if (place != kNoPlace) ++count_[place];
}

void WhitenedRows::take_means() {
  means_.assign(count_.size() * in_.width, 0);
  for (std::size_t i = 0; i < in_.samples.size(); ++i)
    for (std::size_t j = 0; j < in_.width && place_[i] != kNoPlace; ++j)
      means_[place_[i] * in_.width + j] += features_of(i)[j];
  for (std::size_t k = 0; k < count_.size(); ++k)
    for (std::size_t j = 0; j < in_.width && count_[k] > 1; ++j)
      means_[k * in_.width + j] /= static_cast<float>(count_[k]);
}

// One that is its known class's only one is held against the mean of all.
bool WhitenedRows::has_spread(std::size_t place) const {
  return count_[place] >= (place < in_.fresh ? 1U : 2U);
}

std::vector<float> WhitenedRows::covariance() {
  std::vector<float> matrix(in_.width * in_.width), scaled;
  for (std::size_t i = 0, end = 0; i < in_.samples.size(); i = std::max(end, i + 1)) {
    for (end = i; end < in_.samples.size() && place_[end] != kNoPlace;) ++end;
    add_products(1, features_of(i), end - i, in_.width, matrix);  // without what tells nothing
  }
  scaled.reserve(std::min(kMeansAtOnce, count_.size()) * in_.width);
  std::size_t used = 0;
  const auto subtract = [&] {
    add_products(-1, scaled.data(), scaled.size() / in_.width, in_.width, matrix);
    scaled.clear();
  };
  for (std::size_t k = 0; k < count_.size(); ++k) {
    if (!has_spread(k)) continue;
    ++used;
    const float root = std::sqrt(static_cast<float>(count_[k]));
    for (std::size_t j = 0; j < in_.width; ++j) scaled.push_back(root * mean_of(k)[j]);
    if (scaled.size() == kMeansAtOnce * in_.width) subtract();
  }
  subtract();
  shrink(matrix, telling_ > used ? static_cast<double>(telling_ - used) : 0);
  return matrix;
}

// Without spread, the identity.
void WhitenedRows::shrink(std::vector<float>& matrix, double freedom) {
  const auto p = static_cast<double>(in_.width);
  double trace = 0, squares = 0;
  for (std::size_t j = 0; j < in_.width; ++j) trace += double{matrix[j * in_.width + j]};
  for (const float x : matrix) squares += double{x} * double{x};
  if (freedom > 0) trace /= freedom, squares /= freedom * freedom;
  const double spread = (freedom + 1 - 2 / p) * (squares - trace * trace / p);
  const double share = ((1 - 2 / p) * squares + trace * trace) / spread;
  const double shrinkage =
      freedom > 0 && trace > 0 && spread > 0 ? std::clamp(share, 0.0, 1.0) : 1.0;
  summand_ = freedom > 0 ? (1 - shrinkage) / freedom : 0;
  const double even = trace > 0 ? shrinkage * trace / p : 1;
  for (float& x : matrix) x = static_cast<float>(double{x} * summand_);
  for (std::size_t j = 0; j < in_.width; ++j) matrix[j * in_.width + j] += static_cast<float>(even);
}

void WhitenedRows::whiten() {
  factor_ = covariance();
  whitens_ = factor_positive_definite(wide(in_.width), factor_.data());
  if (!whitens_) {
    factor_.clear();
    summand_ = 0;
    return;
  }
  whiten_rows(wide(in_.width), factor_.data(), wide(in_.samples.size()), in_.features.data());
  whiten_rows(wide(in_.width), factor_.data(), wide(count_.size()), means_.data());
}

WhitenedRows::Rows WhitenedRows::of_all() const {
  Rows rows{{means_.begin(), means_.begin() + wide(in_.fresh * in_.width)},
            std::vector<char>(in_.fresh)};
  for (std::size_t k = 0; k < in_.fresh; ++k) {
    float* row = rows.weights.data() + k * in_.width;
    const double square = dot(row, row, in_.width);
    rows.known[k] = count_[k] > 0 && square > 0 && std::isfinite(square) ? 1 : 0;
    const auto scale = static_cast<float>(rows.known[k] != 0 ? 1 / std::sqrt(square) : 0);
    for (std::size_t j = 0; j < in_.width; ++j) row[j] *= scale;
  }
  if (whitens_)
    unwhiten_directions(wide(in_.width), factor_.data(), wide(in_.fresh), rows.weights.data());
  return rows;
}

std::vector<float> WhitenedRows::left_out_scores() const {
  std::vector<float> values(in_.samples.size() * in_.fresh);
  for (std::size_t begin = 0; begin < in_.samples.size();) {
    std::size_t end = begin;
    while (end < in_.samples.size() && in_.samples[end].fold == in_.samples[begin].fold) ++end;
    score(begin, end, values);
    begin = end;
  }
  return values;
}

// What a fold takes away: from the means of its classes, and from the covariance.
struct WhitenedRows::Fold {
  std::vector<float> means;    // [fresh x width], of the other folds
  std::vector<char> known;     // by fresh class: the others have samples of it
  std::vector<float> removed;  // [rank x width], whose squares the covariance loses
  std::size_t rank = 0;

  Fold(const WhitenedRows& all, std::size_t begin, std::size_t end);
};

WhitenedRows::Fold::Fold(const WhitenedRows& all, std::size_t begin, std::size_t end)
    : means(all.means_.begin(), all.means_.begin() + wide(all.in_.fresh * all.in_.width)) {
  const std::size_t width = all.in_.width;
  for (std::size_t k = 0; k < all.in_.fresh; ++k) known.push_back(all.count_[k] > 0 ? 1 : 0);
  std::vector<std::uint32_t> touched(all.place_.begin() + wide(begin),
                                     all.place_.begin() + wide(end));
  std::ranges::sort(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  std::erase(touched, kNoPlace);
  removed.reserve((end - begin + touched.size()) * width);
  for (const std::uint32_t place : touched) {
    std::vector<double> gone(width);  // less the mean, each
    std::size_t count = 0;
    const float* mean = all.mean_of(place);
    const float held = all.has_spread(place) ? 1 : 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (all.place_[i] != place) continue;
      ++count;
      for (std::size_t j = 0; j < width; ++j) {
        const float x = all.features_of(i)[j];
        removed.push_back(x - held * mean[j]);
        gone[j] += double{x} - double{mean[j]};
      }
    }
    const auto left = static_cast<double>(all.count_[place] - count);
    for (std::size_t j = 0; j < width && left > 0; ++j) {
      removed.push_back(static_cast<float>(gone[j] / std::sqrt(left)));
      if (place < all.in_.fresh)
        means[place * width + j] = static_cast<float>(double{mean[j]} - gone[j] / left);
    }
    if (place < all.in_.fresh && left == 0) known[place] = 0;
  }
  rank = removed.size() / width;
}

// A covariance of 1 in whitened space, less the squares of what the fold removed: its inverse is 1
// and what `mended` adds.
void WhitenedRows::score(std::size_t begin, std::size_t end, std::vector<float>& values) const {
  const Fold fold(*this, begin, end);
  const std::size_t count = end - begin, fresh = in_.fresh;
  std::vector<float> said =
      products_of(features_of(begin), count, fold.means.data(), fresh, in_.width);
  std::vector<double> square(fresh);
  for (std::size_t k = 0; k < fresh; ++k) {
    const float* mean = fold.means.data() + k * in_.width;
    square[k] = fold.known[k] != 0 ? dot(mean, mean, in_.width) : 0;
  }
  if (summand_ > 0 && fold.rank > 0) {
    const float* removed = fold.removed.data();
    std::vector<float> left = products_of(removed, fold.rank, removed, fold.rank, in_.width);
    for (float& x : left) x = -x;
    for (std::size_t i = 0; i < fold.rank; ++i)
      left[i * fold.rank + i] += static_cast<float>(1 / summand_);
    const std::vector<float> of_means =
        products_of(removed, fold.rank, fold.means.data(), fresh, in_.width);
    std::vector<float> mended = of_means;
    if (!solve_positive_definite(wide(fold.rank), left.data(), wide(fresh), mended.data()))
      std::ranges::fill(square, 0);  // nothing is known without this fold
    const std::vector<float> of_samples =
        products_of(features_of(begin), count, removed, fold.rank, in_.width);
    sgemm_serial(Transpose::kNo, Transpose::kNo, wide(count), wide(fresh), wide(fold.rank), 1,
                 of_samples.data(), wide(fold.rank), mended.data(), wide(fresh), 1, said.data(),
                 wide(fresh));
    for (std::size_t i = 0; i < fold.rank; ++i)
      for (std::size_t k = 0; k < fresh; ++k)
        if (square[k] > 0)
          square[k] += double{of_means[i * fresh + k]} * double{mended[i * fresh + k]};
  }
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < fresh; ++k)
      values[(begin + i) * fresh + k] =
          square[k] > 0 && std::isfinite(square[k])
              ? static_cast<float>(double{said[i * fresh + k]} / std::sqrt(square[k]))
              : kNoRow;
}

std::size_t WhitenedRows::bytes(std::size_t samples, std::size_t width, std::size_t known,
                                std::size_t fresh, std::size_t largest_fold) {
  const std::size_t matrix = width <= kWidestWhitened ? width * (width + kMeansAtOnce) : 0;
  const std::size_t means = (std::min(known, samples) + fresh) * width, rows = 3 * fresh * width;
  const std::size_t rank = 2 * largest_fold;
  const std::size_t fold = rank * (2 * width + rank + 2 * fresh + largest_fold);
  return sizeof(float) *
         (matrix + means + rows + fold + (samples + largest_fold) * fresh + 2 * samples + known);
}

}  // namespace moil::night
