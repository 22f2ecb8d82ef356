// Views: the ways in which one image is shown to a network, so that it learns what does not matter.
//
// A view crops the resized image at another place than its middle, after enlarging it, and may
// mirror it. Views have numbers, and a sample's view of a number is always the same, so that what a
// frozen network makes of it can be kept. Plain values, free functions: safe from any thread.
#pragma once

#include <cstdint>

#include "datasets/identity/digest.h"

namespace moil::data {

// As it is: the plain view, the middle of the image.
struct View {
  bool flip = false;  // left and right change places
  double zoom = 1;    // of the resized image's sides, 1 to kMostZoom
  double x = 0.5;     // where the crop lies in the room that it has, from 0 (left) to 1 (right)
  double y = 0.5;     // the same, from the top down
  bool operator==(const View&) const = default;

  static constexpr double kMostZoom = 16;
  // kInvalidArgument if a member is out of its range.
  void check() const;
};

// The view of this number that the sample has, on every machine: a function of its arguments alone.
// 0: the plain one. Others: zoom from 1 to 1.25, x and y anywhere, mirrored every other time if
// may_flip, which does not change the crop. If an image is resized to few pixels, some views are
// the same pixels.
[[nodiscard]] View view_of(const Digest& sample, std::uint16_t number, bool may_flip);

}  // namespace moil::data
