// What is done to an image before a network sees it, as a value: part of a model's and of a pack's
// description, and by its fingerprint of every feature map's key.
//
// In order: channels (grey or RGB), resize, centre crop to height x width, (x * scale - mean) / std
// for each channel, x from 0 to 255. As JSON:
//
//   {"channels": 3, "resize": "short_side", "short_side": 256, "filter": "bicubic",
//    "height": 224, "width": 224, "scale": 1, "mean": [127, 127, 127], "std": [128, 128, 128]}
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "datasets/transforms/resample.h"

namespace moil::data {

struct Preprocessing {
  enum class Resize {
    kNone,       // images of at least height x width, larger ones are cropped
    kExact,      // to height x width, whatever the aspect
    kShortSide,  // the shorter side to short_side, the longer in proportion
  };

  int channels = 3;  // 1 or 3
  Resize resize = Resize::kExact;
  int short_side = 0;  // for kShortSide, at least height and width
  Filter filter = Filter::kBilinear;
  int height = 0;  // of the result
  int width = 0;
  double scale = 1.0;
  std::vector<double> mean;  // one a channel
  std::vector<double> stddev;

  // Floats of one result.
  [[nodiscard]] std::size_t floats() const {
    return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) *
           static_cast<std::size_t>(channels);
  }
  bool operator==(const Preprocessing&) const = default;

  // kInvalidArgument, naming the field.
  void check() const;
  // Checked; unknown and missing fields are errors too ("scale" may be left out: 1).
  [[nodiscard]] static Preprocessing from_json(const nlohmann::json& json);
  [[nodiscard]] nlohmann::json to_json() const;
  // 32 hexadecimal digits; changes with the description and with the arithmetic behind it.
  [[nodiscard]] std::string fingerprint() const;
};

}  // namespace moil::data
