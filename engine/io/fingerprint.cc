#include "engine/io/fingerprint.h"

#include <bit>
#include <cstdint>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "engine/io/model_json.h"

namespace moil {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are hashed as they lie");

class Fingerprint {
 public:
  void add(std::uint64_t number) { hasher_.add(&number, sizeof number); }
  void add(const std::string& text) {
    add(text.size());
    hasher_.add(text.data(), text.size());
  }
  void add(const std::string& name, const NamedTensor& tensor) {
    add(name);
    add(tensor.dims.size());
    for (const std::int64_t dim : tensor.dims) add(static_cast<std::uint64_t>(dim));
    hasher_.add(tensor.data.data(), tensor.data.size() * sizeof(float));
  }
  std::string hex() const { return to_hex(hasher_.hash128()); }

 private:
  Hasher hasher_;
};

std::string layer_of(const std::string& weight) {
  const std::size_t dot = weight.rfind('.');
  if (dot == std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument, "weight \"" + weight + "\" is not named LAYER.WEIGHT");
  }
  return weight.substr(0, dot);
}

}  // namespace

std::string model_fingerprint(const ModelDescription& model) {
  ModelDescription nameless = model;
  nameless.name.clear();
  Fingerprint print;
  print.add(format_model(nameless));
  return print.hex();
}

std::string weights_fingerprint(const WeightMap& weights) {
  Fingerprint print;
  for (const auto& [name, tensor] : weights) print.add(name, tensor);
  return print.hex();
}

std::string weights_fingerprint(const WeightMap& weights, std::span<const std::string> layers) {
  const std::set<std::string> chosen(layers.begin(), layers.end());
  Fingerprint print;
  for (const auto& [name, tensor] : weights) {
    if (chosen.contains(layer_of(name))) print.add(name, tensor);
  }
  return print.hex();
}

}  // namespace moil
