// From a decoded image to the floats a network takes.
//
// Resizing agrees with Pillow bit for bit, cropping with torchvision's CenterCrop, grey with
// Pillow's "L" (ITU-R 601, rounded). Images have 1 or 3 channels: alpha is gone when one is
// decoded. A view (view.h) enlarges what is resized to (if anything is resized), moves the
// crop and mirrors the result.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "datasets/images/image.h"
#include "datasets/transforms/preprocessing.h"
#include "datasets/transforms/resample.h"
#include "datasets/transforms/view.h"

namespace moil::data {

// Holds its working memory between calls, so that none is taken per sample once it has grown: one a
// thread.
class Transform {
 public:
  explicit Transform(Preprocessing description);  // kInvalidArgument

  [[nodiscard]] const Preprocessing& description() const { return description_; }
  [[nodiscard]] std::size_t floats() const { return description_.floats(); }

  // What apply() takes at most for an image of these dimensions, turned or not, beside image and
  // result.
  [[nodiscard]] std::size_t working_bytes(int width, int height, int channels) const;

  // Writes floats() values, height x width x channels (channels last). kBadData if the image is
  // smaller than the crop and nothing resizes it; kInvalidArgument for a view out of range.
  void apply(const Image& image, float* out) { apply(image, {}, out); }
  void apply(const Image& image, const View& view, float* out);

  // Gives back what it holds between calls.
  void release();

  // All but the last step: the resized and cropped image. Valid until the next call, and as long as
  // `image` is.
  [[nodiscard]] const Image& geometry(const Image& image, const View& view = {});

 private:
  std::pair<int, int> resized(const Image& image) const;
  std::pair<int, int> enlarged(const Image& image, double zoom) const;
  const Image& convert(const Image& image);
  const Image& spread(const Image& image);
  const Image& crop(const Image& image, const View& view);

  Preprocessing description_;
  std::vector<std::array<float, 256>> normalised_;  // by channel and pixel value
  Resampler resampler_;
  Image converted_, cropped_, spread_;
};

}  // namespace moil::data
