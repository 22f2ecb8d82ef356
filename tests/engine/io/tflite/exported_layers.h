// Models of one layer each, in the forms that matter to a TensorFlow Lite file, and their answers.
#pragma once

#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "engine/device/conv/kernel_selector.h"
#include "engine/model/preparation.h"
#include "engine/run/network.h"
#include "tests/engine/io/onnx/single_layers.h"

namespace moil::tflite::test {

using onnx::ImportedModel;
using Shapes = std::vector<std::vector<std::int64_t>>;

inline Property whole(std::int64_t value) { return value; }
inline Property numbers(std::vector<std::int64_t> values) { return values; }

inline ImportedModel model_of(const std::string& type, const Properties& properties,
                              const Shapes& inputs) {
  ImportedModel model = onnx::single_layer(type, properties, inputs);
  for (auto& [name, weight] : model.weights)
    if (name.ends_with("running_var"))
      for (float& value : weight.data) value = 0.3F + std::abs(value);
  return model;
}

// An image, rows, and a row.
inline const Shapes kImage = {{4, 7, 6}}, kRows = {{5, 6}}, kRow = {{6}};

inline void add_convolutions(std::map<std::string, ImportedModel>& all) {
  const std::map<std::string, Properties> forms = {
      {"of a pixel", {{"kernel", whole(1)}}},
      {"same", {{"kernel", whole(3)}, {"padding", whole(1)}}},
      {"valid", {{"kernel", numbers({3, 2})}, {"bias", false}}},
      {"of a stride", {{"kernel", whole(3)}, {"padding", whole(1)}, {"stride", whole(2)}}},
      {"behind alone", {{"kernel", whole(3)}, {"padding", numbers({0, 1, 2, 1})}}},
      {"with gaps", {{"kernel", whole(3)}, {"padding", whole(2)}, {"dilation", whole(2)}}},
      {"of groups", {{"kernel", whole(3)}, {"groups", whole(2)}}},
      {"by channels", {{"kernel", whole(3)}, {"groups", whole(4)}, {"padding", whole(1)}}},
      {"by channels with gaps",
       {{"kernel", whole(2)}, {"groups", whole(4)}, {"dilation", numbers({2, 3})}}},
  };
  for (const auto& [name, form] : forms) {
    for (const char* activation : {"", "relu", "relu6"}) {
      Properties properties = form;
      properties["out_channels"] = whole(8);
      if (*activation != '\0') properties["activation"] = std::string(activation);
      ImportedModel model = model_of("conv2d", properties, kImage);
      model.description = complete_model(model.description);
      all["conv2d " + name + " " + activation] = std::move(model);
    }
  }
}

inline void add_pools(std::map<std::string, ImportedModel>& all) {
  const std::map<std::string, Properties> windows = {
      {"plain", {{"kernel", whole(2)}}},
      {"same", {{"kernel", whole(3)}, {"stride", whole(1)}, {"padding", whole(1)}}},
      {"of a stride", {{"kernel", whole(3)}, {"stride", whole(2)}, {"padding", whole(1)}}},
      {"to the end", {{"kernel", whole(3)}, {"stride", whole(2)}, {"ceil_mode", true}}},
      {"padded to the end",
       {{"kernel", whole(2)}, {"stride", whole(2)}, {"padding", whole(1)}, {"ceil_mode", true}}},
      {"on one side",
       {{"kernel", whole(3)}, {"stride", whole(2)}, {"padding", numbers({1, 0, 0, 1})}}},
  };
  for (const auto& [name, window] : windows) {
    all["max_pool " + name] = model_of("max_pool", window, kImage);
    for (const bool counts : {true, false}) {
      Properties properties = window;
      properties["count_include_pad"] = counts;
      all["average_pool " + name + (counts ? " with zeros" : "")] =
          model_of("average_pool", properties, kImage);
    }
  }
}

inline void add_arranging(std::map<std::string, ImportedModel>& all) {
  const auto add = [&](const std::string& name, const std::string& type,
                       const Properties& properties, const Shapes& inputs) {
    all[type + " " + name] = model_of(type, properties, inputs);
  };
  add("images", "concat", {}, {{4, 7, 6}, {2, 7, 6}});
  add("images along rows", "concat", {{"axis", whole(2)}}, {{4, 7, 6}, {4, 2, 6}});
  add("rows", "concat", {{"axis", whole(1)}}, {{5, 6}, {3, 6}});
  add("image", "flatten", {}, kImage);
  add("rows", "flatten", {}, kRows);
  add("image", "pad", {{"begin", numbers({1, 0, 2})}, {"end", numbers({0, 3, 1})}}, kImage);
  add("rows", "pad", {{"begin", numbers({0, 2})}, {"end", numbers({1, 0})}, {"value", 0.5}}, kRows);
  add("image", "permute", {{"order", numbers({0, 2, 3, 1})}}, kImage);
  add("rows", "permute", {{"order", numbers({0, 2, 1})}}, kRows);
  add("to rows", "reshape", {{"dims", numbers({7, 24})}}, kImage);
  add("to an image", "reshape", {{"dims", numbers({3, 2, 5})}}, kRows);
  add("image", "slice", {{"axis", whole(1)}, {"start", whole(1)}, {"length", whole(2)}}, kImage);
  add("rows", "slice",
      {{"axis", whole(2)}, {"start", whole(1)}, {"length", whole(2)}, {"step", whole(3)}}, kRows);
  const Shapes six = {{2, 3, 2, 3, 2}};
  add("six axes", "slice", {{"length", whole(1)}}, six);
  add("six axes", "permute", {{"order", numbers({0, 5, 4, 2, 3, 1})}}, six);
  add("six axes", "pad", {{"begin", numbers({0, 1, 0, 0, 1})}, {"end", numbers({0, 0, 0, 1, 0})}},
      six);
  add("image backwards", "slice",
      {{"axis", whole(1)}, {"start", whole(3)}, {"length", whole(4)}, {"step", whole(-1)}}, kImage);
  add("rows backwards", "slice",
      {{"axis", whole(2)}, {"start", whole(4)}, {"length", whole(2)}, {"step", whole(-3)}}, kRows);
  add("rows", "stack", {}, {{6}, {6}, {6}});
  add("rows", "unstack", {}, kRows);
  for (const char* mode : {"nearest", "linear"})
    for (const char* coordinates : {"asymmetric", "half_pixel", "align_corners"})
      for (const auto& size : {numbers({14, 12}), numbers({3, 5}), numbers({1, 9})})
        add(std::string(mode) + " " + coordinates + " to " +
                std::to_string(std::get<std::vector<std::int64_t>>(size)[0]),
            "resize",
            {{"size", size},
             {"mode", std::string(mode)},
             {"coordinates", std::string(coordinates)},
             {"rounding",
              std::string(*coordinates == 'h' || coordinates[1] == 'l' ? "round_prefer_ceil"
                                                                       : "floor")}},
            kImage);
}

inline ImportedModel of_positive_numbers(const std::string& type, const Properties& properties) {
  ImportedModel model = model_of(type, properties, kImage);
  model.description.layers[0].inputs = {"positive"};
  model.description.layers.insert(model.description.layers.begin(),
                                  {"positive", "exp", {"x0"}, {}});
  return model;
}

inline void add_arithmetic_layers(std::map<std::string, ImportedModel>& all) {
  const auto add = [&](const std::string& type, const Properties& properties = {},
                       const std::string& form = {}) {
    for (const auto& [name, inputs] :
         {std::pair("image", kImage), std::pair("rows", kRows), std::pair("row", kRow)})
      all[type + " " + name + form] = model_of(type, properties, inputs);
  };
  for (const char* type :
       {"batch_norm", "clip",         "dropout",    "elu",      "exp",        "gelu",
        "gelu_tanh",  "hard_sigmoid", "hard_swish", "identity", "leaky_relu", "log_softmax",
        "mish",       "prelu",        "reciprocal", "relu",     "relu6",      "scale",
        "sigmoid",    "silu",         "softmax",    "softplus", "tanh"}) {
    if (type == std::string("clip")) {
      add("clip", {{"min", -0.3}, {"max", 0.4}});
      add("clip", {{"min", 0.1}}, " below");
      add("clip", {{"max", 0.1}}, " above");
      add("clip", {{"min", -1.0}, {"max", 1.0}}, " of one");
    } else {
      add(type);
    }
  }
  for (const auto& [name, exponent] : {std::pair("power square", 2.0), std::pair("power", 0.37)})
    all[name] = of_positive_numbers("power", {{"exponent", exponent}});
  all["log"] = of_positive_numbers("log", {});
  add("elu", {{"alpha", 0.4}}, " bent");
  add("leaky_relu", {{"slope", 0.3}}, " steep");
  add("prelu", {{"shared", true}}, " shared");
  add("scale", {{"factor", 0.4}, {"offset", -0.2}}, " moved");
  add("scale", {{"offset", 0.7}}, " shifted");
  const auto two = [&](const std::string& name, const std::string& type, const Shapes& inputs,
                       const Properties& properties = {}) {
    all[type + " " + name] = model_of(type, properties, inputs);
  };
  two("images", "add", {{4, 7, 6}, {4, 7, 6}});
  two("three rows", "add", {{5, 6}, {5, 6}, {5, 6}});
  two("images", "multiply", {{4, 7, 6}, {4, 7, 6}});
  for (const char* extreme : {"maximum", "minimum"}) {
    two("images", extreme, {{4, 7, 6}, {4, 7, 6}});
    two("rows", extreme, {{5, 6}, {5, 6}});
  }
  two("image by channels", "multiply", {{4, 7, 6}, {4, 1, 1}});
  two("rows", "matmul", {{5, 6}, {6, 3}});
  two("turned", "matmul", {{5, 6}, {3, 6}}, {{"transpose_b", true}});
  two("row", "add_parameter", kRow, {{"dims", numbers({6})}});
  two("rows", "add_parameter", kRows, {{"dims", numbers({5, 6})}});
  two("fixed", "add_parameter", kRows, {{"dims", numbers({6})}, {"trained", false}});
  two("rows", "multiply_parameter", kRows, {{"dims", numbers({6})}});
  two("rows", "prepend_parameter", kRows);
  two("row", "fully_connected", kRow, {{"units", whole(3)}});
  two("rows", "fully_connected", kRows, {{"units", whole(3)}});
  two("plain", "fully_connected", kRows, {{"units", whole(3)}, {"bias", false}});
  two("image", "global_average_pool", kImage);
  two("pixel", "global_average_pool", kImage, {{"keep_dims", true}});
  two("rows", "layer_norm", kRows);
  two("plain", "layer_norm", kRows, {{"affine", false}});
  two("image", "local_response_norm", kImage, {{"size", whole(3)}, {"alpha", 0.3}});
}

inline void add_recurrent(std::map<std::string, ImportedModel>& all) {
  const std::map<std::string, Properties> forms = {{"forward", {}},
                                                   {"backward", {{"reverse", true}}},
                                                   {"to its end", {{"sequence", false}}},
                                                   {"plain", {{"bias", false}}}};
  for (const std::string type : {"lstm", "gru", "rnn"}) {
    const Shapes states(type == "lstm" ? 2 : 1, {3});
    for (const bool has_states : {false, true}) {
      const auto add = [&](const std::string& name, Properties properties, Shapes inputs) {
        properties["units"] = whole(3);
        if (has_states) inputs.insert(inputs.end(), states.begin(), states.end());
        all[name + (has_states ? " from a state" : "")] =
            model_of(name.substr(0, name.find(' ')), properties, inputs);
      };
      for (const auto& [form, properties] : forms) {
        add(type + " " + form, properties, kRows);
        if (form == "forward" || form == "plain") add(type + "_cell " + form, properties, kRow);
      }
      if (type == "rnn") add("rnn cut", {{"nonlinearity", std::string("relu")}}, kRows);
    }
  }
}

// Integers go in.
inline ImportedModel words_model() {
  ImportedModel model;
  model.description.name = "m";
  model.description.inputs = {{"words", {5}, moil::ElementType::kInt32}};
  model.description.layers = {
      {"some.layer", "embedding", {"words"}, {{"rows", whole(9)}, {"width", whole(4)}}}};
  model.description.outputs = {"some.layer"};
  model.weights = onnx::varied_weights(model.description);
  return model;
}

// By name, which begins with the layer's type.
inline std::map<std::string, ImportedModel> exported_layers() {
  std::map<std::string, ImportedModel> all;
  add_convolutions(all);
  add_pools(all);
  add_arranging(all);
  add_arithmetic_layers(all);
  all["embedding"] = words_model();
  all["max_pool with gaps"] =
      model_of("max_pool", {{"kernel", whole(2)}, {"dilation", whole(2)}}, kImage);
  all["rnn of too many steps"] = model_of("rnn", {{"units", whole(2)}}, {{5000, 3}});
  all["resize to the next pixel"] =
      model_of("resize", {{"size", numbers({14, 12})}, {"rounding", std::string("ceil")}}, kImage);
  const std::map<std::string, std::string> types = {{"attention", "multi_head_attention"},
                                                    {"location", "location_attention"},
                                                    {"positions", "positional_encoding"}};
  for (auto& [name, model] : onnx::single_layers()) {
    const std::string first = name.substr(0, name.find(' '));
    const auto type = types.find(first);
    all[type == types.end() ? name : type->second + " " + name] = model;
  }
  for (const char* type : {"lstm_cell", "gru_cell", "rnn_cell"}) {
    const bool has_cell = type == std::string("lstm_cell");
    all[type] =
        model_of(type, {{"units", whole(3)}}, has_cell ? Shapes{{6}, {3}, {3}} : Shapes{{6}, {3}});
  }
  return all;
}

// The element of a tensor, by its place in memory, in the order of the dims.
inline std::int64_t place_of(std::int64_t i, const TensorInfo& info) {
  if (info.layout != Layout::kChannelsLast) return i;
  const std::int64_t channels = info.dims[1], pixels = info.dims[2] * info.dims[3];
  return i % channels * pixels + i / channels;
}

// Numbers for one of a model's inputs, in the order of its dims; images with the channels first.
inline NamedTensor input_of(const ImportedModel& model, std::size_t k) {
  const InputDescription& input = model.description.inputs.at(k);
  NamedTensor tensor{input.dims, {}};
  tensor.dims.insert(tensor.dims.begin(), 1);
  for (std::int64_t i = 0; i < moil::Dims(tensor.dims).elements(); ++i)
    tensor.data.push_back(input.type == ElementType::kInt32
                              ? static_cast<float>(i % 3 + 1)
                              : static_cast<float>(std::sin(1.3 * static_cast<double>(i + 1) +
                                                            static_cast<double>(k))));
  return tensor;
}

// What the network answers to the inputs of `as`, in the order of its dims. An image may lie with
// its channels last in the network, and not in `as`.
inline NamedTensor answer_of(ImportedModel model, const ImportedModel& as) {
  KernelSelector::Options options;
  options.measure = false;
  KernelSelector kernels(options);
  Network network(prepare_inference(model.description, model.weights), {.batch = 1, .plan = {}},
                  kernels);
  network.allocate();
  network.load(model.weights);
  for (std::size_t k = 0; k < model.description.inputs.size(); ++k) {
    const int input = static_cast<int>(k);
    const TensorInfo& info = network.input_info(input);
    const NamedTensor values = input_of(as, k);
    const bool is_turned = model.description.inputs[k].dims != as.description.inputs.at(k).dims;
    const TensorInfo turned{moil::Dims(values.dims), Layout::kChannelsLast};
    for (std::int64_t i = 0; i < info.dims.elements(); ++i) {
      const std::int64_t at = place_of(i, info);
      const float value =
          values.data[static_cast<std::size_t>(is_turned ? place_of(at, turned) : at)];
      network.input(input)[i] = info.type == ElementType::kInt32
                                    ? std::bit_cast<float>(static_cast<std::int32_t>(value))
                                    : value;
    }
  }
  network.forward();
  const TensorInfo& info = network.output_info(0);
  const auto dims = info.dims.values();
  NamedTensor answer{{dims.begin(), dims.end()}, {}};
  answer.data.resize(static_cast<std::size_t>(info.dims.elements()));
  for (std::int64_t i = 0; i < info.dims.elements(); ++i)
    answer.data[static_cast<std::size_t>(place_of(i, info))] = network.output(0)[i];
  return answer;
}

}  // namespace moil::tflite::test
