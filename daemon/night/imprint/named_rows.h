// What a classifier calls samples of classes that it has no rows for: each sample by the known
// class that answers loudest. The mean of the rows of these names is a row that answers wherever
// they do.
//
// Pure. One thread at a time; the same arguments and number of threads, the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/night/imprint/whitened_rows.h"

namespace moil::night {

// The known class by whose name most samples of a new class are called.
struct KnownName {
  std::uint32_t known = 0;
  std::size_t said = 0, samples = 0;  // of so many
};

class NamedRows {
 public:
  struct Input {
    std::size_t width = 0;                  // of the features
    std::size_t known = 0, fresh = 0;       // classes
    std::span<const FoldedSample> samples;  // in the order of their folds
    std::span<const float> features;        // [samples x width]
    std::span<const float> known_weights;   // [known x width]
    std::span<const float> known_bias;      // [known]
  };
  // said: by sample, the known class that answers loudest.
  NamedRows(const Input& input, std::span<const std::uint32_t> said);

  // By new class.
  [[nodiscard]] std::vector<std::optional<KnownName>> names() const;
  const std::vector<float>& weights() const { return weights_; }  // [fresh x width]
  const std::vector<float>& bias() const { return bias_; }        // [fresh]
  // What rows that do without each sample's fold say of it: [samples x fresh]; of a class that has
  // samples in its fold alone, what the row of all says. Reads the features again.
  [[nodiscard]] std::vector<float> left_out_outputs() const;

 private:
  void leave_out(std::size_t begin, std::size_t end, std::vector<float>& outputs) const;
  double known_output(std::uint32_t known, std::size_t sample) const;
  std::size_t class_of(std::size_t sample) const { return in_.samples[sample].label - in_.known; }

  const Input in_;
  const std::span<const std::uint32_t> said_;
  std::vector<float> weights_, bias_;
  std::vector<std::size_t> count_;  // by new class
};

}  // namespace moil::night
