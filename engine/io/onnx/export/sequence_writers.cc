// How layers of rows, and those that move elements, are written.
#include <limits>
#include <numeric>

#include "engine/io/onnx/export/layer_writer.h"
#include "engine/io/onnx/operators/import_state.h"
#include "engine/layers/shapes.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr char kAdd[] = "Add", kMulNode[] = "Mul";
constexpr char kSoftmax[] = "Softmax", kLogSoftmax[] = "LogSoftmax";

void add_gemm(LayerWriter& w) {
  std::vector<std::string> from = w.inputs();
  from.push_back(w.add_weight("weight"));
  if (w.flag("bias", true)) from.push_back(w.add_weight("bias"));
  w.emit("Gemm", from, {}, {{"transB", std::int64_t{1}}});
}

void add_product_of(LayerWriter& w, const std::string& weight) {
  if (!w.flag("bias", true)) {
    w.emit("MatMul", {w.inputs()[0], weight});
    return;
  }
  w.emit("Add", {w.emit_part("MatMul", {w.inputs()[0], weight}, "product"), w.add_weight("bias")});
}

void add_product(LayerWriter& w) {
  if (w.input_info().dims.rank() == 2) return add_gemm(w);
  if (w.is_shared("weight")) {
    const std::string weight =
        w.emit_part("Transpose", {w.add_weight("weight")}, "turned", {{"perm", Ints{1, 0}}});
    return add_product_of(w, weight);
  }
  Tensor turned = w.constant_of("weight");
  const std::int64_t units = turned.dims[0], features = turned.dims[1];
  const std::vector<float> values = turned.floats;
  for (std::int64_t u = 0; u < units; ++u)
    for (std::int64_t f = 0; f < features; ++f)
      turned.floats[static_cast<std::size_t>(f * units + u)] =
          values[static_cast<std::size_t>(u * features + f)];
  turned.dims = {features, units};
  add_product_of(w, w.add_constant("weight", std::move(turned)));
}

void add_embedding(LayerWriter& w) { w.emit("Gather", {w.add_weight("weight"), w.inputs()[0]}); }

void add_layer_norm(LayerWriter& w) {
  const std::string x = w.inputs()[0];
  const std::map<std::string, Attribute> last = {{"axes", Ints{-1}}};
  const std::string mean = w.emit_part("ReduceMean", {x}, "mean", last);
  const std::string centred = w.emit_part("Sub", {x, mean}, "centred");
  const std::string square = w.emit_part("Pow", {centred, w.add_number("two", 2)}, "square");
  const std::string variance = w.emit_part("ReduceMean", {square}, "variance", last);
  const auto epsilon = static_cast<float>(w.reader().number("epsilon", 1e-5));
  const std::string sum = w.emit_part("Add", {variance, w.add_number("epsilon", epsilon)}, "sum");
  const std::string root = w.emit_part("Sqrt", {sum}, "deviation");
  if (!w.flag("affine", true)) {
    w.emit("Div", {centred, root});
    return;
  }
  const std::string rows = w.emit_part("Div", {centred, root}, "normalised");
  const std::string scaled = w.emit_part("Mul", {rows, w.add_weight("gamma")}, "scaled");
  w.emit("Add", {scaled, w.add_weight("beta")});
}

void add_gelu(LayerWriter& w) {
  const std::string x = w.inputs()[0];
  const std::string part = w.emit_part("Div", {x, w.add_number("root", 1.41421356F)}, "part");
  const std::string share = w.emit_part("Erf", {part}, "erf");
  const std::string raised = w.emit_part("Add", {share, w.add_number("one", 1)}, "raised");
  const std::string product = w.emit_part("Mul", {x, raised}, "product");
  w.emit("Mul", {product, w.add_number("half", 0.5F)});
}

// As PyTorch writes it before opset 20.
void add_gelu_tanh(LayerWriter& w) {
  const std::string x = w.inputs()[0];
  const std::string square = w.emit_part("Mul", {x, x}, "square");
  const std::string cube = w.emit_part("Mul", {x, square}, "cube");
  const std::string bend = w.emit_part("Mul", {w.add_number("bend", 0.044715F), cube}, "bent");
  const std::string sum = w.emit_part("Add", {x, bend}, "sum");
  const std::string inner = w.emit_part("Mul", {w.add_number("steep", 0.797884561F), sum}, "inner");
  const std::string tanh = w.emit_part("Tanh", {inner}, "tanh");
  const std::string raised = w.emit_part("Add", {w.add_number("one", 1), tanh}, "raised");
  const std::string product = w.emit_part("Mul", {x, raised}, "product");
  w.emit("Mul", {w.add_number("half", 0.5F), product});
}

void add_mat_mul(LayerWriter& w) {
  std::vector<std::string> from = w.inputs();
  if (w.flag("transpose_b", false)) {
    const TensorInfo& x = w.input_info();
    Ints order(x.dims.rank());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    from[1] = w.emit_part("Transpose", {from[1]}, "turned", {{"perm", order}});
  }
  w.emit("MatMul", from);
}

void add_transpose(LayerWriter& w) {
  w.emit("Transpose", w.inputs(), {}, {{"perm", w.reader().list("order")}});
}

// If the order in memory alone changes, ONNX has nothing to say.
void add_reshape(LayerWriter& w) {
  if (w.output_info().dims == w.input_info().dims && w.leave_out()) return;
  Ints shape = w.reader().list("dims");
  shape.insert(shape.begin(), 0);
  w.emit("Reshape", {w.inputs()[0], w.add_ints("shape", shape)});
}

constexpr std::int64_t kBeforeTheFirst = std::numeric_limits<std::int32_t>::min();

void add_slice(LayerWriter& w) {
  const std::int64_t start = w.reader().integer("start", 0),
                     step = w.reader().integer("step", 1, kBeforeTheFirst);
  const std::int64_t last = start + (w.reader().integer("length") - 1) * step;
  // Backwards, an end before the first index is far below: -1 would be the last.
  const std::int64_t end = step > 0 ? last + 1 : last > 0 ? last - 1 : kBeforeTheFirst;
  w.emit("Slice",
         {w.inputs()[0], w.add_ints("starts", {start}), w.add_ints("ends", {end}),
          w.add_ints("axes", {w.reader().integer("axis", 1)}), w.add_ints("steps", {step})});
}

void add_pad(LayerWriter& w) {
  Ints pads = {0};
  for (const char* side : {"begin", "end"}) {
    const Ints list = w.reader().list(side);
    pads.insert(pads.end(), list.begin(), list.end());
    if (pads.size() == list.size() + 1) pads.push_back(0);
  }
  const auto value = static_cast<float>(w.reader().number("value", 0));
  w.emit("Pad", {w.inputs()[0], w.add_ints("pads", pads), w.add_number("value", value)});
}

template <const char* kOp>
void add_parameter(LayerWriter& w) {
  const std::string weight = w.flag("trained", true)
                                 ? w.add_weight("weight")
                                 : w.add_constant(kConstantSuffix + 1, w.constant_of("weight"));
  w.emit(kOp, {w.inputs()[0], weight});
}

// As often as there are samples.
void add_token(LayerWriter& w) {
  const std::string x = w.inputs()[0], token = w.add_weight("weight");
  const std::string batch = w.emit_batch(x);
  const std::string dims =
      w.emit_part("Concat", {batch, w.add_ints("dims", w.constant_of("weight").dims)},
                  "tokens_shape", {{"axis", std::int64_t{0}}});
  const std::string tokens = w.emit_part("Expand", {token, dims}, "tokens");
  w.emit("Concat", {tokens, x}, {}, {{"axis", std::int64_t{1}}});
}

template <const char* kOp>
void add_softmax(LayerWriter& w) {
  const TensorInfo& x = w.input_info();
  const auto last = static_cast<std::int64_t>(x.dims.rank()) - 1;
  const std::int64_t axis = x.layout == Layout::kChannelsLast ? 1 : last;
  w.emit(kOp, w.inputs(), {}, {{"axis", axis}});
}

void add_clip(LayerWriter& w) {
  std::vector<std::string> from = {w.inputs()[0], "", ""};
  if (w.has("min")) from[1] = w.add_number("min", static_cast<float>(w.reader().number("min", 0)));
  if (w.has("max"))
    from[2] = w.add_number("max", static_cast<float>(w.reader().number("max", 0)));
  else
    from.pop_back();
  w.emit("Clip", from);
}

void add_scale(LayerWriter& w) {
  const auto factor = static_cast<float>(w.reader().number("factor", 1));
  const auto offset = static_cast<float>(w.reader().number("offset", 0));
  std::string x = w.inputs()[0];
  if (factor != 1 || offset == 0) {
    const std::string to = offset == 0 ? w.name() : w.name() + ".scaled";
    x = w.emit("Mul", {x, w.add_number("factor", factor)}, to);
  }
  if (offset != 0) w.emit("Add", {x, w.add_number("offset", offset)});
}

void add_prelu(LayerWriter& w) {
  const TensorInfo& x = w.input_info();
  const std::int64_t count = w.flag("shared", false) ? 1 : x.dims.elements() / rows_of(x);
  const bool image = x.layout == Layout::kChannelsLast && count > 1;
  w.emit("PRelu", {w.inputs()[0], w.add_weight("weight", image ? Ints{count, 1, 1} : Ints{count})});
}

}  // namespace

void add_sequence_writers(LayerWriters& writers) {
  writers.insert({
      {"add_parameter", add_parameter<kAdd>},
      {"clip", add_clip},
      {"embedding", add_embedding},
      {"fully_connected", add_product},
      {"gelu", add_gelu},
      {"gelu_tanh", add_gelu_tanh},
      {"layer_norm", add_layer_norm},
      {"log_softmax", add_softmax<kLogSoftmax>},
      {"matmul", add_mat_mul},
      {"multiply_parameter", add_parameter<kMulNode>},
      {"pad", add_pad},
      {"permute", add_transpose},
      {"prelu", add_prelu},
      {"prepend_parameter", add_token},
      {"reshape", add_reshape},
      {"scale", add_scale},
      {"slice", add_slice},
      {"softmax", add_softmax<kSoftmax>},
  });
}

}  // namespace moil::onnx
