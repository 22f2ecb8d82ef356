// What an image looks like: two difference hashes (dHash), one along either side.
//
// The image is shrunk to 9 x 8 and to 8 x 9 and made grey; a bit says whether a pixel is brighter
// than the one to its left, or above it. Another size, brightness or compression changes few bits;
// another scene changes about half of them.
#pragma once

#include <optional>

#include "datasets/identity/likeness.h"
#include "datasets/images/image.h"
#include "datasets/transforms/resample.h"

namespace moil::data {

// Holds its working memory between calls: one a thread.
class DifferenceHash {
 public:
  // Nothing if it would show too little: of an image below 16 pixels on a side, and of one with
  // next to nothing on it (fewer than 16 bits set).
  [[nodiscard]] std::optional<Likeness> of(const Image& image);

 private:
  Resampler to_square_, to_wide_, to_tall_;
  Image square_, wide_, tall_;
};

}  // namespace moil::data
