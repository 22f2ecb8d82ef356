#include "tests/parity/cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "base/files/file.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/model/preparation.h"

namespace moil::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::int64_t> integers(const Json& list) {
  return list.get<std::vector<std::int64_t>>();
}

Property property_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return integers(value);
}

}  // namespace

const Cases* Cases::get() {
  static const std::unique_ptr<Cases> cases = []() -> std::unique_ptr<Cases> {
    const fs::path folder = MOIL_PARITY_CASES;
    std::ifstream binary(folder / "cases.bin", std::ios::binary);
    if (!fs::exists(folder / "cases.json") || !binary) return nullptr;
    auto result = std::make_unique<Cases>();
    const Json file = parsed_json(read_text(folder / "cases.json"));
    result->cases_ = file.at("cases");
    result->floats_.resize(file.at("floats").get<std::size_t>());
    binary.read(reinterpret_cast<char*>(result->floats_.data()),
                static_cast<std::streamsize>(result->floats_.size() * sizeof(float)));
    if (!binary) throw std::runtime_error("cases.bin is shorter than cases.json says");
    return result;
  }();
  return cases.get();
}

std::vector<const Json*> Cases::of_kind(const std::string& kind) const {
  std::vector<const Json*> found;
  for (const Json& c : cases_) {
    if (c.at("kind") == kind) found.push_back(&c);
  }
  return found;
}

Tensor Cases::tensor(const Json& place) const {
  const Dims dims(integers(place.at("dims")));
  const auto begin = floats_.begin() + place.at("offset").get<std::ptrdiff_t>();
  return {dims, {begin, begin + dims.elements()}};
}

Properties properties_of(const Json& object) {
  Properties properties;
  for (const auto& [name, value] : object.items()) properties[name] = property_of(value);
  return properties;
}

std::vector<float> in_memory_order(const Tensor& tensor) {
  const Dims& d = tensor.dims;
  if (d.rank() != 4) return tensor.values;
  std::vector<float> memory(tensor.values.size());
  const std::int64_t channels = d[1], pixels = d[2] * d[3];
  for (std::int64_t n = 0; n < d[0]; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t p = 0; p < pixels; ++p) {
        memory[static_cast<std::size_t>((n * pixels + p) * channels + c)] =
            tensor.values[static_cast<std::size_t>((n * channels + c) * pixels + p)];
      }
    }
  }
  return memory;
}

Computed computed(const ModelDescription& model, WeightMap weights, const NamedTensor& image) {
  KernelSelector::Options options;
  options.measure = false;
  KernelSelector kernels(options);
  const ModelDescription prepared = prepare_inference(model, weights);
  Network network(prepared, {.batch = image.dims[0], .plan = {}}, kernels);
  network.allocate();
  network.load(weights);
  auto values = in_memory_order({Dims(image.dims), image.data});
  if (network.input_info(0).type == ElementType::kInt32)
    for (float& v : values) v = std::bit_cast<float>(static_cast<std::int32_t>(v));
  std::copy(values.begin(), values.end(), network.input(0));
  network.forward();
  const TensorInfo info = network.output_info(0);
  return {info, {network.output(0), network.output(0) + info.dims.elements()}};
}

void expect_close(const std::vector<float>& actual, const std::vector<float>& expected,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = 1e-6;
  for (const float e : expected) largest = std::max(largest, std::abs(static_cast<double>(e)));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double e = expected[i], difference = std::abs(static_cast<double>(actual[i]) - e);
    // Negated, so that a NaN fails.
    if (!(difference <= 1e-4 * largest) || !(difference <= 1e-4 * std::abs(e) + 1e-5 * largest)) {
      ADD_FAILURE() << what << " at " << i << ": " << actual[i] << ", expected " << expected[i]
                    << " (largest " << largest << ")";
      return;
    }
  }
}

}  // namespace moil::test
