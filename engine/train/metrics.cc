#include "engine/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/error.h"

namespace moil {
namespace {

[[noreturn]] void fail_in_metrics(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "metrics: " + what);
}

struct LabelQuality {
  double auc = 0, average_precision = 0;
};

// Walks down the scores; equal ones enter together. Empty if a kind is missing.
std::optional<LabelQuality> label_quality(std::vector<LabelScore>& samples) {
  // A NaN has no place in the order: it goes last, as the worst score.
  for (auto& s : samples) {
    if (std::isnan(s.score)) s.score = -INFINITY;
  }
  std::sort(samples.begin(), samples.end(),
            [](const LabelScore& a, const LabelScore& b) { return a.score > b.score; });
  double right = 0, wrong = 0;  // positives and negatives so far
  double area = 0, precisions = 0;
  for (auto it = samples.begin(); it != samples.end();) {
    const float score = it->score;
    const double right_before = right, wrong_before = wrong;
    for (; it != samples.end() && it->score == score; ++it) (it->is ? right : wrong) += 1;
    area += (wrong - wrong_before) * (right + right_before) / 2;
    precisions += (right - right_before) * right / (right + wrong);
  }
  if (right == 0 || wrong == 0) return std::nullopt;
  return LabelQuality{area / (right * wrong), precisions / right};
}

}  // namespace

bool in_top_k(std::span<const float> scores, std::int64_t label, int k) {
  const auto own = static_cast<std::size_t>(label);
  if (std::isnan(scores[own])) return false;
  int better = 0;
  for (std::size_t c = 0; c < scores.size(); ++c)
    better += scores[c] > scores[own] || (c < own && scores[c] == scores[own]) ? 1 : 0;
  return better < k;
}

void Accuracy::add(std::span<const float> scores, std::span<const std::int64_t> labels) {
  if (labels.empty() || scores.size() % labels.size() != 0)
    fail_in_metrics(std::to_string(scores.size()) + " scores for " + std::to_string(labels.size()) +
                    " labels");
  const std::size_t classes = scores.size() / labels.size();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= static_cast<std::int64_t>(classes)) {
      fail_in_metrics("label " + std::to_string(labels[i]) + " of " + std::to_string(classes) +
                      " classes");
    }
    const auto row = scores.subspan(i * classes, classes);
    top_1_.add(in_top_k(row, labels[i], 1) ? 1 : 0);
    top_k_.add(in_top_k(row, labels[i], k_) ? 1 : 0);
  }
}

TaggingQuality tagging_quality(std::span<const std::vector<LabelScore>> labels) {
  TaggingQuality result;
  std::vector<LabelScore> samples;
  for (const std::vector<LabelScore>& label : labels) {
    samples = label;
    if (const auto quality = label_quality(samples)) {
      result.auc += quality->auc;
      result.mean_average_precision += quality->average_precision;
      ++result.labels;
    }
  }
  if (result.labels > 0) {
    result.auc /= result.labels;
    result.mean_average_precision /= result.labels;
  }
  return result;
}

}  // namespace moil
