// What a model says of a sound while it listens: the mean of its last answers.
//
// Parts lie close, so that a sound that is shorter than a part is seen by many in turn, and what is
// mistaken for it by few. So probabilities are joined over the last third of a part (posterior
// smoothing: Chen, Parada and Heigold, ICASSP 2014). If parts lie further apart than that, each
// answer stands for itself.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "datasets/kinds/kind.h"

namespace moil::night {

// The kind, which streams, as it is listened to: a decision every so many seconds; 0: 80 ms, or a
// twelfth of a part if that is more.
[[nodiscard]] data::KindPtr as_listened(const data::Kind& kind, double every = 0);

// Takes one sound's parts, in their order. One thread.
class SmoothedAnswers {
 public:
  SmoothedAnswers(std::size_t labels, const data::PartPlaces& places);

  // A probability a label: their means; valid until the next call.
  std::span<const float> add(std::span<const float> answer);
  // A part without a signal, in which no label is heard.
  void add_silence();
  // The same of a sound that is shorter than a part, which all parts show: the mean of what was
  // joined; empty if that is nothing.
  void join(std::span<const float> answer);
  [[nodiscard]] std::vector<float> joined() const;
  void begin_anew();  // with another sound

 private:
  std::span<float> next_row();

  const std::size_t labels_, joined_;
  std::size_t next_ = 0, count_ = 0;
  std::vector<float> rows_;  // the last ones
  std::vector<float> mean_;
  std::vector<double> sum_;  // of what was joined
  std::size_t summed_ = 0;
};

}  // namespace moil::night
