// Quality of predictions: accuracy of one-label models, AUC and mAP of tagging models.
//
// Plain sums; thread-compatible. Labels are class indices; scores may be logits or probabilities,
// since only their order counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace moil {

// Whether fewer than k classes score above the label's. The lower class index of equal scores is
// the better, so a constant prediction is not right everywhere. A NaN label score is wrong.
[[nodiscard]] bool in_top_k(std::span<const float> scores, std::int64_t label, int k);

// A mean over samples, added up in double: losses, accuracies.
class Mean {
 public:
  void add(double value, std::int64_t samples = 1) {
    sum_ += value * static_cast<double>(samples);
    count_ += samples;
  }
  std::int64_t count() const { return count_; }
  double value() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

// Top-1 and top-k accuracy over batches.
class Accuracy {
 public:
  explicit Accuracy(int k = 5) : k_(k) {}
  // scores [batch, classes] in rows, one label a row. Throws kInvalidArgument if sizes or labels
  // do not fit.
  void add(std::span<const float> scores, std::span<const std::int64_t> labels);
  std::int64_t count() const { return top_1_.count(); }
  double top_1() const { return top_1_.value(); }
  double top_k() const { return top_k_.value(); }

 private:
  int k_;
  Mean top_1_, top_k_;
};

// What one label scored in one sample, and whether the sample has it.
struct LabelScore {
  float score;
  bool is;
};

struct TaggingQuality {
  double auc = 0;  // area under the ROC curve by the trapezoidal rule, mean over labels (MoIL, §5)
  double mean_average_precision = 0;  // mean over labels
  int labels = 0;                     // that the means are over: those with positives and negatives
};

// labels: of each, the scores of the samples of which it is known. Equal scores are one point of
// the curves. Allocates.
[[nodiscard]] TaggingQuality tagging_quality(std::span<const std::vector<LabelScore>> labels);

}  // namespace moil
