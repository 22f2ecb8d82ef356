#include "daemon/night/imprint/imprint.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "daemon/night/imprint/imprint_fit.h"
#include "engine/kernels/gemm/gemm.h"

namespace moil::night {
namespace {

constexpr std::size_t kRowsAtOnce = 256;

double length(const float* a, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += double{a[i]} * double{a[i]};
  return std::sqrt(sum);
}

// What the old rows say of each sample, asked before features are whitened.
struct OldAnswers {
  std::vector<double> sums;  // the logarithm of the sum of their exponentials
  std::vector<float> loudest;
  std::vector<std::uint32_t> said;  // whose that is
};

class OldRows {
 public:
  explicit OldRows(const ImprintInput& input) : in_(input) {}

  OldAnswers answers() const {
    OldAnswers found{std::vector<double>(in_.samples.size()), {}, {}};
    if (in_.each_by_itself) return found;
    found.loudest.resize(in_.samples.size());
    found.said.resize(in_.samples.size());
    std::vector<float> logits(kRowsAtOnce * in_.known);
    for (std::size_t at = 0; at < found.sums.size(); at += kRowsAtOnce) {
      const std::size_t count = std::min(kRowsAtOnce, found.sums.size() - at);
      sgemm(Transpose::kNo, Transpose::kYes, wide(count), wide(in_.known), wide(in_.width), 1,
            in_.features.data() + at * in_.width, wide(in_.width), in_.known_weights.data(),
            wide(in_.width), 0, logits.data(), wide(in_.known));
      for (std::size_t i = 0; i < count; ++i)
        take(std::span(logits).subspan(i * in_.known, in_.known), at + i, found);
    }
    return found;
  }

 private:
  void take(std::span<float> logits, std::size_t sample, OldAnswers& found) const {
    for (std::size_t k = 0; k < logits.size(); ++k) logits[k] += in_.known_bias[k];
    const auto most = std::ranges::max_element(logits);
    double sum = 0;
    for (const float x : logits) sum += std::exp(double{x} - double{*most});
    found.sums[sample] = double{*most} + std::log(sum);
    found.loudest[sample] = *most;
    found.said[sample] = static_cast<std::uint32_t>(most - logits.begin());
  }

  const ImprintInput& in_;
};

class Imprinting {
 public:
  explicit Imprinting(const ImprintInput& input)
      : in_(input), old_(OldRows(input).answers()), names_(input.fresh) {
    scores_.classes = in_.fresh;
    scores_.diverse = in_.diverse;
    scores_.known = std::move(old_.sums);
    scores_.loudest = std::move(old_.loudest);
    for (const FoldedSample& sample : in_.samples)
      scores_.label.push_back(
          sample.gets_row(in_.known) ? static_cast<int>(sample.label - in_.known) : kKnownLabel);
    if (!in_.each_by_itself) {
      named_.emplace(NamedRows::Input{in_.width, in_.known, in_.fresh, in_.samples, in_.features,
                                      in_.known_weights, in_.known_bias},
                     old_.said);
      names_ = named_->names();
      scores_.named = named_->left_out_outputs();
    }
    rows_.emplace(WhitenedRows::Input{in_.width, in_.known, in_.fresh, in_.samples, in_.features});
  }

  std::optional<ImprintedRows> run() {
    WhitenedRows::Rows rows = rows_->of_all();
    if (std::ranges::find(rows.known, 0) != rows.known.end()) return std::nullopt;
    const double usual = usual_factor(rows);
    if (!(usual > 0)) return std::nullopt;
    scores_.values = rows_->left_out_scores();
    judge_denied();
    if (is_named_alone()) silence(rows);
    const ImprintFit fit = fit_imprint(scores_, usual, in_.each_by_itself);
    ImprintedRows made{
        std::move(rows.weights), std::vector<float>(in_.fresh), fit.fitted, std::move(names_), {}};
    if (fit.fitted && named_) made.left_out = right_when_left_out(scores_, fit);
    for (std::size_t k = 0; k < in_.fresh; ++k) make(k, fit, made);
    return made;
  }

 private:
  // Whoever is said not to be of some new classes says nothing of the others.
  void judge_denied() {
    for (std::size_t i = 0; i < in_.samples.size(); ++i)
      for (std::uint32_t k = 0; k < in_.fresh && !in_.samples[i].denied.empty(); ++k)
        if (!std::ranges::binary_search(in_.samples[i].denied, k))
          scores_.values[i * in_.fresh + k] = kNoRow;
  }
  // One new class beside described ones: what it differs in from these, other samples of the world
  // would, too. Its names alone tell what it is.
  bool is_named_alone() const {
    return named_ && in_.fresh == 1 && std::ranges::any_of(in_.samples, &FoldedSample::described);
  }
  void silence(WhitenedRows::Rows& rows) {
    std::ranges::fill(rows.weights, 0.0F);
    for (float& x : scores_.values)
      if (x != kNoRow) x = 0;
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

  // Makes it of a whitened row.
  void make(std::size_t k, const ImprintFit& fit, ImprintedRows& made) const {
    const Loudness& loud = k == in_.diverse ? fit.diverse : fit.alike;
    float* row = made.weights.data() + k * in_.width;
    double bias = loud.offset;
    for (std::size_t j = 0; j < in_.width; ++j) {
      row[j] = static_cast<float>(double{row[j]} * loud.factor);
      bias -= double{row[j]} * double{rows_->middle()[j]};
    }
    if (named_) {
      const float* named = named_->weights().data() + k * in_.width;
      for (std::size_t j = 0; j < in_.width; ++j)
        row[j] += static_cast<float>(loud.share * double{named[j]});
      bias += loud.share * double{named_->bias()[k]};
    }
    made.bias[k] = static_cast<float>(bias);
  }

  const ImprintInput& in_;
  OldAnswers old_;
  ImprintScores scores_;
  std::vector<std::optional<KnownName>> names_;  // none of sigmoids
  std::optional<NamedRows> named_;               // of softmax
  std::optional<WhitenedRows> rows_;
};

}  // namespace

std::optional<ImprintedRows> imprint(const ImprintInput& input) {
  if (input.fresh == 0 || input.known == 0 || input.known_bias.empty()) return std::nullopt;
  return Imprinting(input).run();
}

std::size_t imprint_bytes(std::size_t samples, std::size_t width, std::size_t known,
                          std::size_t fresh, std::size_t largest_fold) {
  const std::size_t answers = samples * (sizeof(double) + 3 * sizeof(std::uint32_t));
  const std::size_t logits = sizeof(float) * kRowsAtOnce * known;
  // What whitened and named rows say, and the named rows.
  const std::size_t fitting = sizeof(float) * fresh * (2 * samples + width + 1);
  const std::size_t rows = WhitenedRows::bytes(samples, width, known, fresh, largest_fold);
  return answers + std::max(logits, rows) + fitting + sizeof(float) * fresh * width;
}

}  // namespace moil::night
