// A perceptual hash: images that look nearly the same have nearly the same one.
//
// The image is shrunk to 9 x 8 and made grey; a bit says whether a pixel is brighter than the one
// to its left (dHash). Another size, brightness or compression changes few bits; another scene
// changes about half of them. A hint to be counted, not an identity.
#pragma once

#include <cstdint>

#include "datasets/images/image.h"
#include "datasets/transforms/resample.h"

namespace moil::data {

// Holds its working memory between calls: one a thread.
class DifferenceHash {
 public:
  [[nodiscard]] std::uint64_t of(const Image& image);

 private:
  Resampler resampler_;
  Image small_;
};

// At most one in eight of the bits that either has set differs. Of a photo about half are set; of a
// drawing on an empty ground few, and then few may differ.
[[nodiscard]] bool look_alike(std::uint64_t a, std::uint64_t b);

}  // namespace moil::data
