#include "engine/io/tflite/export/tflite_export.h"

#include <algorithm>
#include <utility>

#include "engine/io/onnx/export/onnx_export.h"
#include "engine/io/tflite/export/cell_writers.h"
#include "engine/io/tflite/export/graph_writer.h"
#include "engine/layers/lengths.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/realizers.h"

namespace moil::tflite {
namespace {

// The format has this in one operator, and no error function to make it of.
template <bool is_approximate>
void write_gelu_layer(onnx::LayerWriter& w) {
  w.emit("Gelu", w.inputs(), {}, {{"approximate", std::string(is_approximate ? "tanh" : "none")}});
}

constexpr std::int64_t kMostSteps = 4096;  // of all recurrent layers

// The model as a network that is used has it; its recurrent layers step by step, for the format's
// own would remember one sample at the next. Those of several lengths stay, and of too many steps.
ModelDescription used_form(const ModelDescription& model, WeightMap& weights) {
  ModelDescription unrolled = model;
  const moil::Graph built = build_graph(model, 1);
  std::int64_t steps = 0;
  for (const moil::Node& node : built.nodes) {
    if (node.type != "lstm" && node.type != "gru" && node.type != "rnn") continue;
    const auto layer = std::find_if(unrolled.layers.begin(), unrolled.layers.end(),
                                    [&](const auto& l) { return l.name == node.name; });
    const auto inputs = built.input_infos(node);
    if (has_lengths(inputs) || inputs[0].dims[1] > kMostSteps - steps) continue;
    steps += inputs[0].dims[1];
    layer->properties["unroll"] = true;
  }
  return realize_batch_norm_folding(realize_inference(realize_recurrent(unrolled)), weights);
}

const onnx::LayerWriters& own_writers() {
  static const onnx::LayerWriters kWriters = {{"gelu", write_gelu_layer<false>},
                                              {"gelu_tanh", write_gelu_layer<true>},
                                              {"gru_cell", write_gru_cell},
                                              {"lstm_cell", write_lstm_cell},
                                              {"rnn_cell", write_rnn_cell}};
  return kWriters;
}

}  // namespace

std::string export_tflite(const ModelDescription& model, WeightMap weights,
                          const std::map<std::string, std::string>& metadata) {
  const ModelDescription used = used_form(model, weights);
  onnx::Graph graph = onnx::export_onnx(used, weights, metadata, own_writers());
  weights.clear();
  return GraphWriter(std::move(graph)).write();
}

}  // namespace moil::tflite
