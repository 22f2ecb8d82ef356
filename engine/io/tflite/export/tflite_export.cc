#include "engine/io/tflite/export/tflite_export.h"

#include "engine/io/onnx/export/onnx_export.h"
#include "engine/io/tflite/export/graph_writer.h"
#include "engine/model/realizers/realizers.h"

namespace moil::tflite {
namespace {

// The format has this in one operator, and no error function to make it of.
template <bool is_approximate>
void write_gelu_layer(onnx::LayerWriter& w) {
  w.emit("Gelu", w.inputs(), {}, {{"approximate", std::string(is_approximate ? "tanh" : "none")}});
}

}  // namespace

std::string export_tflite(const ModelDescription& model, WeightMap weights,
                          const std::map<std::string, std::string>& metadata) {
  const ModelDescription used = realize_batch_norm_folding(realize_inference(model), weights);
  const onnx::Graph graph =
      onnx::export_onnx(used, weights, metadata,
                        {{"gelu", write_gelu_layer<false>}, {"gelu_tanh", write_gelu_layer<true>}});
  return GraphWriter(graph).write();
}

}  // namespace moil::tflite
