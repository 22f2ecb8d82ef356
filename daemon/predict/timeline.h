// When labels are said in a sample of several parts.
//
// Parts that follow each other, overlap or touch and say a label are one interval, however many
// they are. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/kinds/kind.h"

namespace moil::night {

struct Heard {
  double from = 0, to = 0;  // in the places' unit
  std::uint32_t label = 0;
  float probability = 0;  // the highest of its parts
};

class Timeline {
 public:
  // Keeps so many intervals, those that end first; counts the others.
  Timeline(const data::PartPlaces& places, std::size_t most) : places_(places), most_(most) {}

  [[nodiscard]] std::string_view unit() const { return places_.unit; }

  // Parts in their order. said: labels of this part; probabilities: one a label. Those of the
  // labels whose interval begins with this part, while it is not known how long that will be.
  std::vector<std::uint32_t> add(std::uint32_t part, std::span<const std::uint32_t> said,
                                 std::span<const float> probabilities);

  struct Told {
    std::vector<Heard> heard;  // as they begin; at one time by label
    std::size_t more = 0;
  };
  // Tells all parts; the timeline is over.
  [[nodiscard]] Told take();

 private:
  struct Open {
    std::uint32_t first = 0, last = 0;
    float probability = 0;
  };
  bool touches(const Open& open, std::uint32_t part) const;
  void close(std::uint32_t label, const Open& open);

  const data::PartPlaces places_;
  const std::size_t most_;
  std::map<std::uint32_t, Open> open_;
  Told told_;
};

}  // namespace moil::night
