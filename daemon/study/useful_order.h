// Which unlabelled samples teach most when somebody labels them: uncertain ones that are unlike
// each other. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace moil::night {

// features: [uncertainty.size() x width]. The first `most` samples, each the one whose uncertainty
// (0 to 1) times its distance from the nearest before it is largest; the distance is half of 1
// less the cosine of features about their mean. The first of equals is taken. To bound the time,
// only the first of many samples are chosen so; the others follow by how they stand to these.
[[nodiscard]] std::vector<std::size_t> useful_order(std::span<const double> uncertainty,
                                                    std::span<const float> features,
                                                    std::size_t width, std::size_t most);

}  // namespace moil::night
