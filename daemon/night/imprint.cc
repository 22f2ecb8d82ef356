#include "daemon/night/imprint.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "daemon/night/imprint_fit.h"
#include "engine/kernels/gemm.h"

namespace moil::night {
namespace {

constexpr std::size_t kRowsAtOnce = 256;
// Two numbers are fitted: of thousands of classes, some of the samples tell them.
constexpr std::size_t kMostScores = std::size_t{16} << 20;

std::size_t scored_every(std::size_t samples, std::size_t fresh) {
  return std::max<std::size_t>(1, (samples * fresh + kMostScores - 1) / kMostScores);
}

double length(const float* a, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += double{a[i]} * double{a[i]};
  return std::sqrt(sum);
}

class Imprinting {
 public:
  // What old rows say is asked before the features are centred.
  explicit Imprinting(const ImprintInput& input)
      : in_(input),
        known_(known_sums()),
        rows_({input.width, input.known, input.fresh, input.samples, input.features}) {}

  std::optional<ImprintedRows> run() {
    const WhitenedRows::Rows rows = rows_.of_all();
    if (std::ranges::find(rows.known, 0) != rows.known.end()) return std::nullopt;
    const double usual = usual_factor(rows);
    if (!(usual > 0)) return std::nullopt;
    return scaled(rows, fit_imprint(left_out_scores(), usual, in_.each_by_itself));
  }

 private:
  // What the old rows say of each sample together: the logarithm of the sum of their exponentials.
  std::vector<double> known_sums() const {
    std::vector<double> sums(in_.samples.size());
    if (in_.each_by_itself || in_.known == 0) return sums;
    std::vector<float> logits(kRowsAtOnce * in_.known);
    for (std::size_t at = 0; at < sums.size(); at += kRowsAtOnce) {
      const std::size_t count = std::min(kRowsAtOnce, sums.size() - at);
      sgemm(Transpose::kNo, Transpose::kYes, wide(count), wide(in_.known), wide(in_.width), 1,
            in_.features.data() + at * in_.width, wide(in_.width), in_.known_weights.data(),
            wide(in_.width), 0, logits.data(), wide(in_.known));
      for (std::size_t i = 0; i < count; ++i)
        sums[at + i] = log_sum(std::span(logits).subspan(i * in_.known, in_.known));
    }
    return sums;
  }

  double log_sum(std::span<float> logits) const {
    for (std::size_t k = 0; k < logits.size(); ++k) logits[k] += in_.known_bias[k];
    const float most = *std::ranges::max_element(logits);
    double sum = 0;
    for (const float x : logits) sum += std::exp(double{x} - double{most});
    return double{most} + std::log(sum);
  }

  // With which new rows are as long as old ones, on average.
  double usual_factor(const WhitenedRows::Rows& rows) const {
    double old = 0, fresh = 0;
    for (std::size_t k = 0; k < in_.known; ++k)
      old += length(in_.known_weights.data() + k * in_.width, in_.width);
    for (std::size_t k = 0; k < in_.fresh; ++k)
      fresh += length(rows.weights.data() + k * in_.width, in_.width);
    return old / static_cast<double>(in_.known) / (fresh / static_cast<double>(in_.fresh));
  }

  ImprintScores left_out_scores() {
    const std::size_t every = scored_every(in_.samples.size(), in_.fresh);
    ImprintScores scores{in_.fresh, rows_.left_out_scores(every), {}, {}};
    for (std::size_t i = 0; i < in_.samples.size(); i += every) {
      const std::uint32_t label = in_.samples[i].label;
      scores.known.push_back(known_[i]);
      scores.label.push_back(label < in_.known ? kKnownLabel : static_cast<int>(label - in_.known));
    }
    return scores;
  }

  ImprintedRows scaled(const WhitenedRows::Rows& rows, const ImprintFit& fit) const {
    ImprintedRows made{rows.weights, std::vector<float>(in_.fresh), fit.fitted};
    for (float& x : made.weights) x = static_cast<float>(double{x} * fit.factor);
    for (std::size_t k = 0; k < in_.fresh; ++k) {
      double bias = fit.offset;
      for (std::size_t j = 0; j < in_.width; ++j)
        bias -= double{made.weights[k * in_.width + j]} * double{rows_.middle()[j]};
      made.bias[k] = static_cast<float>(bias);
    }
    return made;
  }

  const ImprintInput& in_;
  const std::vector<double> known_;
  WhitenedRows rows_;
};

}  // namespace

std::optional<ImprintedRows> imprint(const ImprintInput& input) {
  if (input.fresh == 0 || input.known == 0 || input.known_bias.empty()) return std::nullopt;
  return Imprinting(input).run();
}

std::size_t imprint_bytes(std::size_t samples, std::size_t width, std::size_t known,
                          std::size_t fresh) {
  const std::size_t every = scored_every(samples, fresh);
  return WhitenedRows::bytes((samples + every - 1) / every, width, known, fresh) +
         sizeof(float) * (samples * 8 + kRowsAtOnce * known);
}

}  // namespace moil::night
