#include "engine/io/fingerprint.h"

#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <set>

#include "base/error.h"
#include "engine/io/model_json.h"

namespace moil {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are hashed as they lie");

class Hasher {
 public:
  Hasher() : state_(XXH3_createState()) {
    if (!state_) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }

  void add(const void* data, std::size_t bytes) { XXH3_128bits_update(state_.get(), data, bytes); }
  void add(std::uint64_t number) { add(&number, sizeof number); }
  void add(const std::string& text) {
    add(text.size());
    add(text.data(), text.size());
  }
  void add(const std::string& name, const NamedTensor& tensor) {
    add(name);
    add(tensor.dims.size());
    for (const std::int64_t dim : tensor.dims) add(static_cast<std::uint64_t>(dim));
    add(tensor.data.data(), tensor.data.size() * sizeof(float));
  }

  std::string hex() const {
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(state_.get()));
    std::string text;
    for (const unsigned char byte : bytes.digest) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
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
  Hasher hasher;
  hasher.add(format_model(nameless));
  return hasher.hex();
}

std::string weights_fingerprint(const WeightMap& weights) {
  Hasher hasher;
  for (const auto& [name, tensor] : weights) hasher.add(name, tensor);
  return hasher.hex();
}

std::string weights_fingerprint(const WeightMap& weights, std::span<const std::string> layers) {
  const std::set<std::string> chosen(layers.begin(), layers.end());
  Hasher hasher;
  for (const auto& [name, tensor] : weights) {
    if (chosen.contains(layer_of(name))) hasher.add(name, tensor);
  }
  return hasher.hex();
}

}  // namespace moil
