#include "daemon/night/imprint.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/index.h"
#include "daemon/night/imprint_fit.h"
#include "engine/kernels/gemm.h"

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
  std::vector<double> sums;         // the logarithm of the sum of their exponentials
  std::vector<std::uint32_t> said;  // the likeliest
};

bool may_be_paired(const std::optional<KnownName>& name) {
  return name && static_cast<double>(name->said) >= kOwnShare * static_cast<double>(name->of_all);
}

class OldRows {
 public:
  explicit OldRows(const ImprintInput& input) : in_(input) {}

  OldAnswers answers() const {
    OldAnswers found{std::vector<double>(in_.samples.size()), {}};
    if (in_.each_by_itself || in_.known == 0) return found;
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

  // The known name of most samples of each new class.
  std::vector<std::optional<KnownName>> names(const OldAnswers& answers) const {
    std::vector<std::optional<KnownName>> names(in_.fresh);
    std::vector<std::map<std::uint32_t, std::size_t>> said(in_.fresh);
    std::map<std::uint32_t, std::size_t> of_all;
    for (std::size_t i = 0; i < answers.said.size(); ++i) {
      if (!in_.samples[i].gets_row(in_.known)) continue;
      ++said[in_.samples[i].label - in_.known][answers.said[i]];
      ++of_all[answers.said[i]];
    }
    for (std::size_t k = 0; k < in_.fresh; ++k) {
      std::size_t samples = 0;
      for (const auto& [known, count] : said[k]) samples += count;
      for (const auto& [known, count] : said[k])
        if (2 * count > samples) names[k] = {known, count, samples, of_all[known], false};
    }
    return names;
  }

  // Of each sample, what the known row of each class says that may be paired; empty: none may.
  std::vector<float> of_pairs(const std::vector<std::optional<KnownName>>& names) const {
    std::vector<float> outputs;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (!may_be_paired(names[k])) continue;
      outputs.resize(in_.samples.size() * in_.fresh);
      const float* row = in_.known_weights.data() + names[k]->known * in_.width;
      for (std::size_t i = 0; i < in_.samples.size(); ++i) {
        double sum = double{in_.known_bias[names[k]->known]};
        for (std::size_t j = 0; j < in_.width; ++j)
          sum += double{row[j]} * double{in_.features[i * in_.width + j]};
        outputs[i * in_.fresh + k] = static_cast<float>(sum);
      }
    }
    return outputs;
  }

 private:
  void take(std::span<float> logits, std::size_t sample, OldAnswers& found) const {
    for (std::size_t k = 0; k < logits.size(); ++k) logits[k] += in_.known_bias[k];
    const auto most = std::ranges::max_element(logits);
    double sum = 0;
    for (const float x : logits) sum += std::exp(double{x} - double{*most});
    found.sums[sample] = double{*most} + std::log(sum);
    found.said[sample] = static_cast<std::uint32_t>(most - logits.begin());
  }

  const ImprintInput& in_;
};

class Imprinting {
 public:
  explicit Imprinting(const ImprintInput& input) : in_(input) {
    const OldRows old(input);
    OldAnswers answers = old.answers();
    names_ = old.names(answers);
    paired_ = old.of_pairs(names_);
    known_ = std::move(answers.sums);
    rows_.emplace(
        WhitenedRows::Input{input.width, input.known, input.fresh, input.samples, input.features});
  }

  std::optional<ImprintedRows> run() {
    const WhitenedRows::Rows rows = rows_->of_all();
    if (std::ranges::find(rows.known, 0) != rows.known.end()) return std::nullopt;
    const double usual = usual_factor(rows);
    if (!(usual > 0)) return std::nullopt;
    ImprintScores scores = left_out_scores();
    if (const auto fit = paired_fit(scores, usual)) return scaled(rows, *fit);
    return scaled(rows, fit_imprint(scores, usual, in_.each_by_itself));
  }

 private:
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
    ImprintScores scores;
    scores.classes = in_.fresh;
    scores.values = rows_->left_out_scores();
    scores.known = std::move(known_);
    for (const FoldedSample& sample : in_.samples)
      scores.label.push_back(sample.gets_row(in_.known) ? static_cast<int>(sample.label - in_.known)
                                                        : kKnownLabel);
    return scores;
  }

  // By class: it may be paired, and left-out samples tell of it.
  std::vector<RowGroup> candidates(const ImprintScores& scores) const {
    std::vector<RowGroup> groups(in_.fresh, kAlone);
    for (std::size_t i = 0; i < scores.label.size(); ++i) {
      if (scores.label[i] == kKnownLabel) continue;
      const auto k = static_cast<std::size_t>(scores.label[i]);
      if (may_be_paired(names_[k]) && scores.values[i * in_.fresh + k] != kNoRow)
        groups[k] = kPaired;
    }
    return groups;
  }

  // Nothing where all stand alone, and `scores` are then as before.
  std::optional<ImprintFit> paired_fit(ImprintScores& scores, double usual) {
    std::vector<RowGroup> groups = candidates(scores);
    if (std::ranges::find(groups, kPaired) == groups.end()) return std::nullopt;
    for (const RowGroup group : groups)
      scores.weight.push_back(group == kPaired ? kPairedWeight : 1);
    const ImprintFit alone = fit_imprint(scores, usual, in_.each_by_itself);
    scores.group = std::move(groups);
    scores.paired = std::move(paired_);
    const ImprintFit fit = fit_imprint(scores, usual, in_.each_by_itself);
    if (fit.fitted && fit.loss < alone.loss) {
      for (std::size_t k = 0; k < in_.fresh; ++k)
        if (scores.group[k] == kPaired) names_[k]->paired = true;
      return fit;
    }
    scores.weight.clear();
    scores.group.clear();
    scores.paired.clear();
    return std::nullopt;
  }

  ImprintedRows scaled(const WhitenedRows::Rows& rows, const ImprintFit& fit) const {
    ImprintedRows made{rows.weights, std::vector<float>(in_.fresh), fit.fitted, names_};
    for (std::size_t k = 0; k < in_.fresh; ++k) {
      const bool paired = names_[k] && names_[k]->paired;
      const ImprintFit::Strength& strength = fit.of[paired ? kPaired : kAlone];
      float* row = made.weights.data() + k * in_.width;
      double bias = strength.offset;
      for (std::size_t j = 0; j < in_.width; ++j) {
        row[j] = static_cast<float>(double{row[j]} * strength.factor);
        bias -= double{row[j]} * double{rows_->middle()[j]};
      }
      if (paired) bias += add_known(names_[k]->known, row);
      made.bias[k] = static_cast<float>(bias);
    }
    return made;
  }

  // Gives the known row's bias.
  double add_known(std::uint32_t known, float* row) const {
    const float* old = in_.known_weights.data() + known * in_.width;
    for (std::size_t j = 0; j < in_.width; ++j) row[j] += old[j];
    return double{in_.known_bias[known]};
  }

  const ImprintInput& in_;
  std::vector<double> known_;
  std::vector<std::optional<KnownName>> names_;
  std::vector<float> paired_;
  std::optional<WhitenedRows> rows_;
};

}  // namespace

std::optional<ImprintedRows> imprint(const ImprintInput& input) {
  if (input.fresh == 0 || input.known == 0 || input.known_bias.empty()) return std::nullopt;
  return Imprinting(input).run();
}

std::size_t imprint_bytes(std::size_t samples, std::size_t width, std::size_t known,
                          std::size_t fresh, std::size_t largest_fold) {
  const std::size_t answers = samples * (sizeof(double) + 2 * sizeof(std::uint32_t));
  const std::size_t logits = sizeof(float) * kRowsAtOnce * known;
  const std::size_t fitting =
      sizeof(float) * 2 * samples * fresh;  // scores and known rows' outputs
  const std::size_t rows = WhitenedRows::bytes(samples, width, known, fresh, largest_fold);
  return answers + std::max(logits, rows) + fitting + sizeof(float) * fresh * width;
}

}  // namespace moil::night
