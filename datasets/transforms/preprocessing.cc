#include "datasets/transforms/preprocessing.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "datasets/identity/digest.h"
#include "datasets/transforms/json_fields.h"

namespace moil::data {

NLOHMANN_JSON_SERIALIZE_ENUM(Preprocessing::Resize,
                             {{Preprocessing::Resize::kNone, "none"},
                              {Preprocessing::Resize::kExact, "exact"},
                              {Preprocessing::Resize::kShortSide, "short_side"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Filter,
                             {{Filter::kBilinear, "bilinear"}, {Filter::kBicubic, "bicubic"}})

namespace {

constexpr int kMaxSide = 16'384;
// To be raised when decoding or the arithmetic of a transform changes its results, or a view's
// number means another view.
constexpr const char* kArithmetic = "preprocessing 3 ";

void require(bool good, const std::string& what) {
  if (!good) throw Error(ErrorCode::kInvalidArgument, "preprocessing: " + what);
}

void check_channels(const char* field, const std::vector<double>& values, int channels) {
  require(values.size() == static_cast<std::size_t>(channels),
          "'" + std::string(field) + "' has " + std::to_string(values.size()) +
              " entries, expected one a channel: " + std::to_string(channels));
  require(std::ranges::all_of(values, [](double v) { return std::isfinite(v); }),
          "'" + std::string(field) + "' is not finite");
}

}  // namespace

void Preprocessing::check() const {
  require(channels == 1 || channels == 3,
          "'channels' is " + std::to_string(channels) + ", expected 1 or 3");
  require(height >= 1 && height <= kMaxSide && width >= 1 && width <= kMaxSide,
          "'height' x 'width' is " + std::to_string(height) + "x" + std::to_string(width));
  if (resize == Resize::kShortSide) {
    require(
        short_side >= std::max(height, width) && short_side <= kMaxSide,
        "'short_side' is " + std::to_string(short_side) + ", expected at least height and width");
  }
  require(std::isfinite(scale), "'scale' is not finite");
  check_channels("mean", mean, channels);
  check_channels("std", stddev, channels);
  require(std::ranges::all_of(stddev, [](double v) { return v > 0; }), "'std' is not positive");
}

Preprocessing Preprocessing::from_json(const nlohmann::json& json) {
  JsonFields fields(json, "preprocessing", ErrorCode::kInvalidArgument);
  const auto side = [&](const char* name) {
    return static_cast<int>(fields.whole(name, 1, kMaxSide));
  };
  Preprocessing description;
  description.channels = side("channels");
  description.resize = fields.name<Resize>("resize");
  description.height = side("height");
  description.width = side("width");
  if (description.resize == Resize::kShortSide) description.short_side = side("short_side");
  if (description.resize != Resize::kNone) description.filter = fields.name<Filter>("filter");
  if (fields.has("scale")) description.scale = fields.get<double>("scale");
  description.mean = fields.get<std::vector<double>>("mean");
  description.stddev = fields.get<std::vector<double>>("std");
  fields.finish();
  description.check();
  return description;
}

nlohmann::json Preprocessing::to_json() const {
  nlohmann::json json = {{"channels", channels}, {"resize", resize}, {"height", height},
                         {"width", width},       {"scale", scale},   {"mean", mean},
                         {"std", stddev}};
  if (resize == Resize::kShortSide) json["short_side"] = short_side;
  if (resize != Resize::kNone) json["filter"] = filter;
  return json;
}

std::string Preprocessing::fingerprint() const {
  return digest_of(kArithmetic + to_json().dump()).hex();
}

}  // namespace moil::data
