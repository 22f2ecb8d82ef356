#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/io/model_json.h"
#include "engine/io/onnx/export/onnx_export.h"
#include "engine/io/onnx/onnx_import.h"
#include "engine/io/onnx/onnx_reader.h"
#include "engine/io/onnx/onnx_writer.h"
#include "engine/io/tflite/export/tflite_export.h"
#include "engine/io/tflite/tflite_reader.h"
#include "engine/model/preparation.h"
#include "engine/run/network.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/text.h"
#include "tests/fuzz/trials.h"

namespace moil::test {
namespace {

constexpr std::size_t kMostLayersPlanned = 64;
constexpr std::size_t kMostBytesComputed = 64 << 10;

void check_weights(const onnx::ImportedModel& model) {
  for (const auto& [name, weight] : model.weights) {
    std::int64_t count = 1;
    for (const std::int64_t d : weight.dims) count *= d;
    require(count == static_cast<std::int64_t>(weight.data.size()),
            "a weight has its shape's size");
  }
}

bool same_bits(const NamedTensor& a, const NamedTensor& b) {
  return a.dims == b.dims && a.data.size() == b.data.size() &&
         (a.data.empty() ||
          std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(float)) == 0);
}

void check_json(const ModelDescription& model) {
  const std::string text = format_model(model);
  require(format_model(parse_model(text)) == text, "a description is read as it was written");
}

// Layers that compute nothing: they rearrange elements, or stand zeros beside them. How many of
// them a wiring takes follows from if the others find their elements in memory, which no file
// says.
bool only_moves(const LayerDescription& layer) {
  static const std::set<std::string> kMoves = {"flatten", "pad", "permute", "reshape"};
  return kMoves.contains(layer.type) && layer.inputs.size() == 1 &&
         !layer.properties.contains("value");
}

// What a model computes of what: equal numbers for values that the same layers compute of the same
// values, whatever the order of layers that do not need each other, and the names of those that
// have no weights. Properties are left out: a file has those at their defaults, too.
class Computations {
 public:
  std::vector<int> outputs_of(const onnx::ImportedModel& model) {
    std::map<std::string, int> values;
    for (const InputDescription& input : model.description.inputs)
      values[input.name] = number_of("input " + input.name);
    for (const LayerDescription& layer : model.description.layers)
      values[layer.name] =
          only_moves(layer) ? values.at(layer.inputs[0]) : number_of(key_of(model, layer, values));
    std::vector<int> outputs;
    for (const std::string& name : model.description.outputs) outputs.push_back(values.at(name));
    return outputs;
  }

 private:
  static std::string key_of(const onnx::ImportedModel& model, const LayerDescription& layer,
                            const std::map<std::string, int>& values) {
    const auto weight = model.weights.lower_bound(layer.name + ".");
    const bool has_weights =
        weight != model.weights.end() && weight->first.starts_with(layer.name + ".");
    std::string key = layer.type + (has_weights ? " " + layer.name : "");
    for (const std::string& input : layer.inputs) key += " " + std::to_string(values.at(input));
    return key;
  }
  int number_of(const std::string& key) {
    return numbers_.emplace(key, static_cast<int>(numbers_.size())).first->second;
  }

  std::map<std::string, int> numbers_;
};

// Layers of a user's own, and a few of ours, have no ONNX operator. An output that is an input's
// elements in another order is refused when it is imported.
void check_export(const onnx::ImportedModel& model) {
  Computations computations;
  const std::vector<int> before = computations.outputs_of(model);
  const auto inputs = static_cast<int>(model.description.inputs.size());  // counted first
  if (std::any_of(before.begin(), before.end(), [&](int v) { return v < inputs; })) return;
  std::string bytes;
  try {
    bytes = format_onnx(onnx::export_onnx(model.description, model.weights));
  } catch (const Error& e) {
    require(e.code() == ErrorCode::kUnimplemented, e.what());
    return;
  }
  const onnx::ImportedModel again = onnx::import_onnx(onnx::parse_onnx(bytes));
  const bool same = before == computations.outputs_of(again);
  if (!same)
    std::fprintf(stderr, "%s\nbecame\n%s\n", format_model(model.description).c_str(),
                 format_model(again.description).c_str());
  require(same, "an exported model computes what it did");
  require(again.weights.size() == model.weights.size(), "with all its weights");
  for (const auto& [name, weight] : model.weights)
    require(same_bits(weight, again.weights.at(name)), "and their values");
}

// What is written is a file, of which the importer may not know every operator; extents may be more
// than the format has numbers for.
void check_lite_export(const onnx::ImportedModel& model) {
  try {
    const std::string bytes = tflite::export_tflite(model.description, model.weights);
    (void)tflite::parse_tflite({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  } catch (const Error& e) {
    require(e.code() == ErrorCode::kUnimplemented || e.code() == ErrorCode::kResourceExhausted,
            e.what());
  }
}

// Limits of the plan (sizes, shapes) are errors; what was planned must compute.
void check_network(onnx::ImportedModel model) {
  if (model.description.layers.size() > kMostLayersPlanned) return;
  const ModelDescription prepared = prepare_inference(model.description, model.weights);
  KernelSelector::Options options;
  options.measure = false;
  options.threads = 1;
  KernelSelector kernels(options);
  Network network(prepared, {.batch = 1, .plan = {}}, kernels);
  if (network.plan().memory.total_bytes > kMostBytesComputed) return;
  network.allocate();
  network.load(model.weights);
  for (std::size_t i = 0; i < network.inputs(); ++i) {
    float* input = network.input(i);
    std::fill(input, input + network.input_info(i).dims.elements(), 0.5F);
  }
  network.forward();
}

void try_model(const onnx::ImportedModel& model) {
  check_weights(model);
  check_json(model.description);
  check_export(model);
  check_lite_export(model);
  check_network(model);
}

}  // namespace

bool try_onnx(std::span<const std::uint8_t> bytes) {
  onnx::ImportedModel model;
  if (!accepts([&] { model = onnx::import_onnx(onnx::parse_onnx(text_of(bytes))); })) return false;
  try_model(model);
  return true;
}

bool try_tflite(std::span<const std::uint8_t> bytes) {
  onnx::ImportedModel model;
  if (!accepts([&] { model = onnx::import_onnx(tflite::parse_tflite(bytes)); })) return false;
  try_model(model);
  return true;
}

}  // namespace moil::test
