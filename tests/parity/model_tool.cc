// What the export test asks of our side:
//
//   model_tool grow FOLDER CLASSES OUT      the model with so many classes, new ones untrained
//   model_tool logits FOLDER CASE OUT       what it computes for the tensor "image" of CASE
//   model_tool fresh DESCRIPTION SEED OUT   a model of words with fresh weights: OUT.onnx, and
//                                           OUT.safetensors with "image", its words, and "logits"
//
// FOLDER and grown models are model folders; CASE and logits are safetensors files.
#include <algorithm>
#include <cstdio>
#include <string>

#include "daemon/models/model_folder.h"
#include "engine/io/model_json.h"
#include "engine/io/onnx/export/onnx_export.h"
#include "engine/io/onnx/onnx_writer.h"
#include "engine/io/safetensors.h"
#include "engine/model/graph.h"
#include "engine/model/initial_weights.h"
#include "engine/model/surgery.h"
#include "tests/parity/cases.h"

namespace moil {
namespace {

void grow(const std::string& folder, const std::string& classes, const std::string& out) {
  night::ModelBundle bundle = night::read_model_folder(folder);
  const std::size_t count = std::stoul(classes);
  grow_classifier(bundle.description, bundle.weights, static_cast<std::int64_t>(count), 7);
  while (bundle.labels.size() < count)
    bundle.labels.push_back("new " + std::to_string(bundle.labels.size()));
  night::write_model_folder(out, bundle);
}

void logits(const std::string& folder, const std::string& file, const std::string& out) {
  night::ModelBundle bundle = night::read_model_folder(folder);
  const NamedTensor image = read_safetensors(file).tensors.at("image");
  const auto [info, found] = test::computed(bundle.description, bundle.weights, image);
  const auto dims = info.dims.values();
  write_safetensors(out, {{"logits", {{dims.begin(), dims.end()}, found}}});
}

void fresh(const std::string& description, const std::string& seed, const std::string& out) {
  const ModelDescription model = read_model(description);
  const WeightMap weights = initial_weights(build_graph(model, 1), std::stoul(seed));
  constexpr std::int64_t kSamples = 3, kWords = 257;
  NamedTensor words{{kSamples, model.inputs.at(0).dims.at(0)}, {}};
  for (std::int64_t i = 0; i < kSamples * words.dims[1]; ++i)
    words.data.push_back(static_cast<float>(i * i % kWords));
  onnx::write_onnx(out + ".onnx", onnx::export_onnx(model, weights));
  const auto [info, found] = test::computed(model, weights, words);
  const auto dims = info.dims.values();
  write_safetensors(out + ".safetensors",
                    {{"image", words}, {"logits", {{dims.begin(), dims.end()}, found}}});
}

}  // namespace
}  // namespace moil

int main(int argc, char** argv) {
  const std::string what = argc == 5 ? argv[1] : "";
  try {
    if (what == "grow") return moil::grow(argv[2], argv[3], argv[4]), 0;
    if (what == "logits") return moil::logits(argv[2], argv[3], argv[4]), 0;
    if (what == "fresh") return moil::fresh(argv[2], argv[3], argv[4]), 0;
    std::fprintf(stderr, "usage: model_tool grow|logits|fresh FOLDER CLASSES|CASE|SEED OUT\n");
    return 64;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "model_tool: %s\n", e.what());
    return 70;
  }
}
