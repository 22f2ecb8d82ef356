// What the export tests ask of our side:
//
//   model_tool grow FOLDER CLASSES OUT      the model with so many classes, new ones untrained
//   model_tool logits FOLDER CASE OUT       what it computes for the tensor "image" of CASE
//   model_tool file FILE CASE OUT           the same of a .tflite or ONNX file that may be no model
//   model_tool fresh DESCRIPTION SEED OUT   a model of words with fresh weights: OUT.onnx, and
//                                           OUT.safetensors with "image", its words, and "logits"
//   model_tool lite DESCRIPTION SEED OUT    the same of any model of one input, as OUT.tflite
//   model_tool layers OUT                   a model of each layer as OUT/NUMBER.tflite, and
//                                           NUMBER.safetensors with "0", "1", ..., what goes in,
//                                           and "logits"; names.json has their names
//
// FOLDER and grown models are model folders; CASE and logits are safetensors files.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "daemon/models/model_folder.h"
#include "engine/io/model_json.h"
#include "engine/io/onnx/export/onnx_export.h"
#include "engine/io/onnx/onnx_import.h"
#include "engine/io/onnx/onnx_reader.h"
#include "engine/io/onnx/onnx_writer.h"
#include "engine/io/safetensors.h"
#include "engine/io/tflite/export/tflite_export.h"
#include "engine/io/tflite/tflite_reader.h"
#include "engine/model/graph.h"
#include "engine/model/initial_weights.h"
#include "engine/model/surgery.h"
#include "tests/engine/io/tflite/exported_layers.h"
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

void write_logits(const ModelDescription& model, const WeightMap& weights, const NamedTensor& image,
                  const std::string& out) {
  const auto [info, found] = test::computed(model, weights, image);
  const auto dims = info.dims.values();
  write_safetensors(out, {{"logits", {{dims.begin(), dims.end()}, found}}});
}

void logits(const std::string& folder, const std::string& file, const std::string& out) {
  night::ModelBundle bundle = night::read_model_folder(folder);
  const NamedTensor image = read_safetensors(file).tensors.at("image");
  write_logits(bundle.description, bundle.weights, image, out);
}

void file(const std::string& path, const std::string& file, const std::string& out) {
  const NamedTensor image = read_safetensors(file).tensors.at("image");
  onnx::ImportOptions options;
  options.input_dims.assign(image.dims.begin() + 1, image.dims.end());
  const onnx::ImportedModel model = onnx::import_onnx(
      tflite::is_tflite(path) ? tflite::read_tflite(path) : onnx::read_onnx(path), options);
  write_logits(model.description, model.weights, image, out);
}

struct Fresh {
  ModelDescription model;
  WeightMap weights;
};

Fresh fresh_model(const std::string& description, const std::string& seed) {
  ModelDescription model = read_model(description);
  WeightMap weights = initial_weights(build_graph(model, 1), std::stoul(seed));
  return {std::move(model), std::move(weights)};
}

// Of its network, beside what goes in.
void write_case(const Fresh& fresh, const NamedTensor& image, const std::string& file) {
  const auto [info, found] = test::computed(fresh.model, fresh.weights, image);
  const auto dims = info.dims.values();
  write_safetensors(file, {{"image", image}, {"logits", {{dims.begin(), dims.end()}, found}}});
}

void fresh(const std::string& description, const std::string& seed, const std::string& out) {
  const Fresh made = fresh_model(description, seed);
  constexpr std::int64_t kSamples = 3, kWords = 257;
  NamedTensor words{{kSamples, made.model.inputs.at(0).dims.at(0)}, {}};
  for (std::int64_t i = 0; i < kSamples * words.dims[1]; ++i)
    words.data.push_back(static_cast<float>(i * i % kWords));
  onnx::write_onnx(out + ".onnx", onnx::export_onnx(made.model, made.weights));
  write_case(made, words, out + ".safetensors");
}

void lite(const std::string& description, const std::string& seed, const std::string& out) {
  const Fresh made = fresh_model(description, seed);
  const InputDescription& input = made.model.inputs.at(0);
  NamedTensor image{input.dims, {}};
  image.dims.insert(image.dims.begin(), 1);
  const bool is_words = input.type == ElementType::kInt32;
  for (std::int64_t i = 0; i < Dims(image.dims).elements(); ++i)
    image.data.push_back(is_words ? static_cast<float>(i * i % 257)
                                  : std::sin(static_cast<float>(i * i % 1009)));
  write_file_atomic(out + ".tflite", tflite::export_tflite(made.model, made.weights));
  write_case(made, image, out + ".safetensors");
}

void layers(const std::filesystem::path& out) {
  Json names = Json::array();
  for (const auto& [name, model] : tflite::test::exported_layers()) {
    const std::string number = std::to_string(names.size());
    try {
      write_file_atomic(out / (number + ".tflite"),
                        tflite::export_tflite(model.description, model.weights));
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kUnimplemented) throw;
      continue;  // tests/engine/io/tflite/ says which
    }
    std::map<std::string, NamedTensor> tensors;
    for (std::size_t k = 0; k < model.description.inputs.size(); ++k)
      tensors[std::to_string(k)] = tflite::test::input_of(model, k);
    tensors["logits"] = tflite::test::answer_of(model, model);
    write_safetensors(out / (number + ".safetensors"), tensors);
    names.push_back(name);
  }
  write_file_atomic(out / "names.json", names.dump());
}

}  // namespace
}  // namespace moil

int main(int argc, char** argv) {
  const std::string what = argc == 5 ? argv[1] : "";
  try {
    if (what == "grow") return moil::grow(argv[2], argv[3], argv[4]), 0;
    if (what == "logits") return moil::logits(argv[2], argv[3], argv[4]), 0;
    if (what == "file") return moil::file(argv[2], argv[3], argv[4]), 0;
    if (what == "fresh") return moil::fresh(argv[2], argv[3], argv[4]), 0;
    if (what == "lite") return moil::lite(argv[2], argv[3], argv[4]), 0;
    if (argc == 3 && std::string(argv[1]) == "layers") return moil::layers(argv[2]), 0;
    std::fprintf(stderr,
                 "usage: model_tool grow|logits|file|fresh|lite FOLDER|FILE CLASSES|CASE|SEED OUT\n"
                 "       model_tool layers OUT\n");
    return 64;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "model_tool: %s\n", e.what());
    return 70;
  }
}
