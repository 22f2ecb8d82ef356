// Rows that tell classes apart, from a few samples of each, and what such rows say of samples that
// they were not made of: what imprinting (imprint.h) and looking for wrong labels
// (label_doubts.h) share.
//
// A class's row is the mean of its samples' features less the mean of what is known, whitened by
// the covariance of features within classes, and of length 1 there. If some of what is
// known is described by a classifier, no known sample tells means or covariance: described ones
// are no samples of the world, and those beside them are of a part of it. The mean of samples that
// get rows, if they are of several classes, stands in for that of the known then, for what real
// features have in common tells no class. The covariance is shrunken towards a multiple of the
// identity by the oracle approximating coefficient (Chen et al., IEEE Trans. Signal Processing 58,
// 2010), which wants no constant.
//
// What is said of a sample that is left out knows nothing of its fold, neither by the means nor by
// the covariance. Features are whitened once; without a fold the covariance lacks some of its
// summands, a change of low rank (Woodbury), so many small folds cost no more than a few.
//
// Pure: the same arguments and number of threads, the same bits. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace moil::night {

// Many: what a few folds leave out is missed by covariances of many features.
inline constexpr std::size_t kFolds = 100;
// Wider features are not whitened: the covariance would take longer than a night's training.
inline constexpr std::size_t kWidestWhitened = 2048;
inline constexpr float kNoRow = -std::numeric_limits<float>::infinity();

// A label: of no class at all, as silence is.
inline constexpr std::uint32_t kOfNoClass = std::numeric_limits<std::uint32_t>::max();

struct FoldedSample {
  // 0 to known - 1, and kOfNoClass: of a class without a row of its own; else of one that gets a
  // row.
  std::uint32_t label = 0;
  std::size_t fold = 0;    // samples of one scene share one
  bool described = false;  // Dataset::is_described()
  // Of no class, and said not to be of these: by their places among the fresh. It judges their rows
  // and tells nothing else.
  std::vector<std::uint32_t> denied = {};

  [[nodiscard]] bool gets_row(std::size_t known) const {
    return label >= known && label != kOfNoClass;
  }
};

class WhitenedRows {
 public:
  struct Input {
    std::size_t width = 0;                  // of the features
    std::size_t known = 0, fresh = 0;       // classes
    std::span<const FoldedSample> samples;  // in the order of their folds
    std::span<float> features;              // [samples x width]; whitened in place
  };
  explicit WhitenedRows(const Input& input);

  struct Rows {
    std::vector<float> weights;  // [fresh x width], of centred features
    std::vector<char> known;     // by class: it has samples to be made of
  };
  // Made of all samples.
  [[nodiscard]] Rows of_all() const;
  // What the rows of the other folds say of each sample: [samples x fresh], kNoRow if a row had
  // no samples.
  [[nodiscard]] std::vector<float> left_out_scores() const;
  // What features were centred at: the mean of known samples; without any, of all.
  const std::vector<float>& middle() const { return middle_; }

  // What all of it takes at most beside its input. largest_fold: samples.
  [[nodiscard]] static std::size_t bytes(std::size_t samples, std::size_t width, std::size_t known,
                                         std::size_t fresh, std::size_t largest_fold);

 private:
  struct Fold;
  float* features_of(std::size_t sample) const { return in_.features.data() + sample * in_.width; }
  const float* mean_of(std::size_t place) const { return means_.data() + place * in_.width; }
  // Whether the sample tells means and covariance.
  bool tells(const FoldedSample& sample) const {
    return sample.denied.empty() && (!describes_ || sample.gets_row(in_.known));
  }
  // Whether samples are held against the mean of their class.
  bool has_spread(std::size_t place) const;
  void centre();
  void number_classes();
  void take_means();
  std::vector<float> covariance();
  void shrink(std::vector<float>& matrix, double freedom);
  void whiten();
  void score(std::size_t begin, std::size_t end, std::vector<float>& values) const;

  const Input in_;
  const bool describes_;
  bool whitens_;
  std::vector<float> middle_;
  // Classes that have a mean: the fresh ones, then those of the known that have samples.
  std::vector<std::uint32_t> place_;  // by sample; none of those that tell nothing
  std::size_t telling_ = 0;           // samples
  std::vector<float> means_;          // whitened, as features are
  std::vector<std::size_t> count_;
  std::vector<float> factor_;  // of the covariance
  double summand_ = 0;         // of a sample's square in the covariance; 0: not whitened
};

}  // namespace moil::night
