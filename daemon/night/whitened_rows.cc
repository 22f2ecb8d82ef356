#include "daemon/night/whitened_rows.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "engine/kernels/cholesky.h"
#include "engine/kernels/gemm.h"

namespace moil::night {
namespace {

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

}  // namespace

WhitenedRows::WhitenedRows(const Input& input)
    : in_(input), whitens_(input.width <= kWidestWhitened) {
  centre();
  if (!whitens_) return;
  products_.assign(in_.width * in_.width, 0);
  add_products(1, in_.features.data(), in_.samples.size(), in_.width, products_);
}

// At the mean of known samples; without any, at that of all.
void WhitenedRows::centre() {
  const auto is_known = [&](const FoldedSample& s) { return s.label < in_.known; };
  const bool any = std::ranges::any_of(in_.samples, is_known);
  std::vector<double> sum(in_.width);
  std::size_t count = 0;
  for (std::size_t i = 0; i < in_.samples.size(); ++i) {
    if (any && !is_known(in_.samples[i])) continue;
    for (std::size_t j = 0; j < in_.width; ++j) sum[j] += double{features_of(i)[j]};
    ++count;
  }
  middle_.resize(in_.width);
  for (std::size_t j = 0; j < in_.width; ++j)
    middle_[j] = static_cast<float>(sum[j] / static_cast<double>(std::max<std::size_t>(1, count)));
  for (std::size_t i = 0; i < in_.samples.size(); ++i)
    for (std::size_t j = 0; j < in_.width; ++j) features_of(i)[j] -= middle_[j];
}

// Means by class of the samples that are not of the fold, and how many they are of.
struct WhitenedRows::Means {
  std::vector<float> of;  // [known + fresh x width]
  std::vector<std::size_t> count;
  std::size_t samples = 0;
};

WhitenedRows::Means WhitenedRows::means_without(std::size_t fold) const {
  const std::size_t classes = in_.known + in_.fresh;
  Means means{std::vector<float>(classes * in_.width), std::vector<std::size_t>(classes), 0};
  for (std::size_t i = 0; i < in_.samples.size(); ++i) {
    if (in_.samples[i].fold == fold) continue;
    const std::size_t k = in_.samples[i].label;
    for (std::size_t j = 0; j < in_.width; ++j) means.of[k * in_.width + j] += features_of(i)[j];
    ++means.count[k];
    ++means.samples;
  }
  for (std::size_t k = 0; k < classes; ++k)
    for (std::size_t j = 0; j < in_.width && means.count[k] > 1; ++j)
      means.of[k * in_.width + j] /= static_cast<float>(means.count[k]);
  return means;
}

// Samples are held against the mean of their class; one that is its known class's only one,
// against the mean of all.
std::vector<float> WhitenedRows::covariance(const Means& means, std::size_t fold) {
  std::vector<float> matrix = products_;
  const auto is_out = [&](const FoldedSample& s) { return s.fold == fold; };
  const auto first = std::ranges::find_if(in_.samples, is_out);
  const auto count = static_cast<std::size_t>(std::ranges::count_if(in_.samples, is_out));
  add_products(-1, features_of(static_cast<std::size_t>(first - in_.samples.begin())), count,
               in_.width, matrix);
  std::vector<float> scaled;
  const auto is_used = [&](std::size_t k) { return means.count[k] >= (k < in_.known ? 2U : 1U); };
  std::size_t all = 0;
  for (std::size_t k = 0; k < means.count.size(); ++k) all += is_used(k) ? 1 : 0;
  scaled.reserve(all * in_.width);
  for (std::size_t k = 0; k < means.count.size(); ++k) {
    if (!is_used(k)) continue;
    const float root = std::sqrt(static_cast<float>(means.count[k]));
    for (std::size_t j = 0; j < in_.width; ++j)
      scaled.push_back(root * means.of[k * in_.width + j]);
  }
  const std::size_t used = scaled.size() / in_.width;
  add_products(-1, scaled.data(), used, in_.width, matrix);
  const double freedom = means.samples > used ? static_cast<double>(means.samples - used) : 0;
  shrink(matrix, freedom);
  return matrix;
}

// The amount is that of all samples, for every fold. Without spread, the identity.
void WhitenedRows::shrink(std::vector<float>& matrix, double freedom) {
  const auto p = static_cast<double>(in_.width);
  double trace = 0, squares = 0;
  for (std::size_t j = 0; j < in_.width; ++j) trace += double{matrix[j * in_.width + j]};
  for (const float x : matrix) squares += double{x} * double{x};
  if (freedom > 0) trace /= freedom, squares /= freedom * freedom;
  if (!shrinkage_) {
    const double spread = (freedom + 1 - 2 / p) * (squares - trace * trace / p);
    const double share = ((1 - 2 / p) * squares + trace * trace) / spread;
    shrinkage_ = freedom > 0 && trace > 0 && spread > 0 ? std::clamp(share, 0.0, 1.0) : 1.0;
  }
  const double kept = freedom > 0 ? (1 - *shrinkage_) / freedom : 0;
  const double even = trace > 0 ? *shrinkage_ * trace / p : 1;
  for (float& x : matrix) x = static_cast<float>(double{x} * kept);
  for (std::size_t j = 0; j < in_.width; ++j) matrix[j * in_.width + j] += static_cast<float>(even);
}

WhitenedRows::Rows WhitenedRows::without(std::size_t fold) {
  const Means means = means_without(fold);
  const float* fresh = means.of.data() + in_.known * in_.width;
  Rows rows{std::vector<float>(fresh, fresh + in_.fresh * in_.width), std::vector<char>(in_.fresh)};
  if (whitens_) whiten(rows.weights, covariance(means, fold));
  for (std::size_t k = 0; k < in_.fresh; ++k) {
    float* row = rows.weights.data() + k * in_.width;
    const double square = dot(row, fresh + k * in_.width, in_.width);
    rows.known[k] = square > 0 && std::isfinite(square) ? 1 : 0;
    const auto scale = static_cast<float>(rows.known[k] != 0 ? 1 / std::sqrt(square) : 0);
    for (std::size_t j = 0; j < in_.width; ++j) row[j] *= scale;
  }
  return rows;
}

void WhitenedRows::whiten(std::vector<float>& rows, std::vector<float> matrix) const {
  std::vector<float> columns(rows.size());
  for (std::size_t k = 0; k < in_.fresh; ++k)
    for (std::size_t j = 0; j < in_.width; ++j)
      columns[j * in_.fresh + k] = rows[k * in_.width + j];
  if (!solve_positive_definite(wide(in_.width), matrix.data(), wide(in_.fresh), columns.data()))
    return;
  for (std::size_t k = 0; k < in_.fresh; ++k)
    for (std::size_t j = 0; j < in_.width; ++j)
      rows[k * in_.width + j] = columns[j * in_.fresh + k];
}

std::vector<float> WhitenedRows::left_out_scores(std::size_t every) {
  const std::size_t all = (in_.samples.size() + every - 1) / every;
  std::vector<float> values(all * in_.fresh);
  const auto fold_of = [&](std::size_t scored) { return in_.samples[scored * every].fold; };
  for (std::size_t begin = 0, end = 0; begin < all; begin = end) {
    while (end < all && fold_of(end) == fold_of(begin)) ++end;
    const Rows rows = without(fold_of(begin));
    sgemm(Transpose::kNo, Transpose::kYes, wide(end - begin), wide(in_.fresh), wide(in_.width), 1,
          features_of(begin * every), wide(every * in_.width), rows.weights.data(), wide(in_.width),
          0, values.data() + begin * in_.fresh, wide(in_.fresh));
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t k = 0; k < in_.fresh; ++k)
        if (rows.known[k] == 0) values[i * in_.fresh + k] = kNoRow;
  }
  return values;
}

std::size_t WhitenedRows::bytes(std::size_t scored, std::size_t width, std::size_t known,
                                std::size_t fresh) {
  const std::size_t matrices = width <= kWidestWhitened ? 2 * width * width : 0;
  const std::size_t means = 2 * (known + fresh) * width, rows = 3 * fresh * width;
  return sizeof(float) * (matrices + means + rows + scored * fresh);
}

}  // namespace moil::night
