// A sample as a night sees it: a view of one of its parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "datasets/sampling/mix.h"

namespace moil::night {

// A sample as it is seen once.
struct SampleView {
  const data::MixedSample* sample = nullptr;
  std::uint16_t view = 0;  // below the sample's number of views; 0: plain
  std::uint32_t part = 0;  // below the sample's parts, or data::kSilence
};

// The user has forgotten a sample of the mix: the night begins anew, without it.
class SampleForgotten : public Error {
 public:
  explicit SampleForgotten(const std::string& what) : Error(ErrorCode::kIo, what) {}
};

struct UnreadableSample {
  const data::MixedSample* sample = nullptr;
  std::string name;  // what the dataset calls it
  std::string why;
};

// Each sample once.
using UnreadableSamples = std::vector<UnreadableSample>;

}  // namespace moil::night
