// Rows that tell classes apart, from a few samples of each, and what such rows say of samples that
// they were not made of: what imprinting (imprint.h) and looking for wrong labels
// (label_doubts.h) share.
//
// A class's row is the mean of its samples' features less the mean of what is known, whitened by
// the covariance of features within classes, and of length 1 there. The covariance is shrunken
// towards a multiple of the identity by the oracle approximating coefficient (Chen et al., IEEE
// Trans. Signal Processing 58, 2010), which wants no constant.
//
// Pure: the same arguments and number of threads, the same bits. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace moil::night {

inline constexpr std::size_t kFolds = 5;
// Wider features are not whitened: the covariance would take longer than a night's training.
inline constexpr std::size_t kWidestWhitened = 2048;
inline constexpr float kNoRow = -std::numeric_limits<float>::infinity();

struct FoldedSample {
  // 0 to known - 1: of a class without a row of its own; from there on: of one that gets a row.
  std::uint32_t label = 0;
  std::size_t fold = 0;  // below kFolds; samples of one scene share one
};

class WhitenedRows {
 public:
  struct Input {
    std::size_t width = 0;                  // of the features
    std::size_t known = 0, fresh = 0;       // classes
    std::span<const FoldedSample> samples;  // in the order of their folds
    std::span<float> features;              // [samples x width]; centred in place
  };
  explicit WhitenedRows(const Input& input);

  struct Rows {
    std::vector<float> weights;  // [fresh x width], of centred features
    std::vector<char> known;     // by class: it has samples to be made of
  };
  // Of all samples.
  [[nodiscard]] Rows of_all() { return without(kFolds); }
  // What the rows of the other folds say of every so many-th sample, from the first one on:
  // [samples / every x fresh], kNoRow where a row had no samples.
  [[nodiscard]] std::vector<float> left_out_scores(std::size_t every = 1);
  // What features were centred at: the mean of known samples; without any, of all.
  const std::vector<float>& middle() const { return middle_; }

  // scored: samples that left_out_scores() tells of.
  [[nodiscard]] static std::size_t bytes(std::size_t scored, std::size_t width, std::size_t known,
                                         std::size_t fresh);

 private:
  struct Means;
  float* features_of(std::size_t sample) const { return in_.features.data() + sample * in_.width; }
  void centre();
  Means means_without(std::size_t fold) const;
  std::vector<float> covariance(const Means& means, std::size_t fold);
  void shrink(std::vector<float>& matrix, double freedom);
  Rows without(std::size_t fold);
  void whiten(std::vector<float>& rows, std::vector<float> matrix) const;

  const Input in_;
  const bool whitens_;
  std::vector<float> middle_;
  std::vector<float> products_;  // transpose(features) * features, centred
  std::optional<double> shrinkage_;
};

}  // namespace moil::night
