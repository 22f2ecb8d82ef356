#include "datasets/transforms/preprocessing.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "datasets/identity/digest.h"

namespace moil::data {

NLOHMANN_JSON_SERIALIZE_ENUM(Preprocessing::Resize,
                             {{Preprocessing::Resize::kNone, "none"},
                              {Preprocessing::Resize::kExact, "exact"},
                              {Preprocessing::Resize::kShortSide, "short_side"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Filter,
                             {{Filter::kBilinear, "bilinear"}, {Filter::kBicubic, "bicubic"}})

namespace {

constexpr int kMaxSide = 16'384;
// To be raised when the arithmetic of a transform changes its results.
constexpr const char* kArithmetic = "preprocessing 1 ";

constexpr const char* kFields[] = {"channels", "resize", "short_side", "filter", "height",
                                   "width",    "scale",  "mean",       "std"};

void require(bool good, const std::string& what) {
  if (!good) throw Error(ErrorCode::kInvalidArgument, "preprocessing: " + what);
}

template <typename T>
void read(const nlohmann::json& json, const char* field, T& value) {
  require(json.contains(field), "'" + std::string(field) + "' is missing");
  try {
    json.at(field).get_to(value);
  } catch (const nlohmann::json::exception&) {
    require(false, "'" + std::string(field) + "' is of the wrong type: " + json.at(field).dump());
  }
}

void read_side(const nlohmann::json& json, const char* field, int& value) {
  std::int64_t number = 0;
  read(json, field, number);
  require(json.at(field).is_number_integer() && number >= 1 && number <= kMaxSide,
          "'" + std::string(field) + "' is " + json.at(field).dump() + ", expected 1 to " +
              std::to_string(kMaxSide));
  value = static_cast<int>(number);
}

// The enum macro reads unknown names as the first one: refuse what does not come back the same.
template <typename T>
void read_name(const nlohmann::json& json, const char* field, T& value) {
  read(json, field, value);
  require(nlohmann::json(value) == json.at(field),
          "'" + std::string(field) + "' is " + json.at(field).dump() + ", which is not known");
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
  require(json.is_object(), "expected an object, found " + json.dump().substr(0, 80));
  for (const auto& [key, value] : json.items()) {
    require(std::ranges::find(kFields, key) != std::end(kFields), "unknown field '" + key + "'");
  }
  Preprocessing description;
  read_side(json, "channels", description.channels);
  read_name(json, "resize", description.resize);
  read_side(json, "height", description.height);
  read_side(json, "width", description.width);
  if (description.resize == Resize::kShortSide)
    read_side(json, "short_side", description.short_side);
  if (description.resize != Resize::kNone) read_name(json, "filter", description.filter);
  if (json.contains("scale")) read(json, "scale", description.scale);
  read(json, "mean", description.mean);
  read(json, "std", description.stddev);
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
