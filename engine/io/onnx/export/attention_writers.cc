// How attention, positions and convolutions of sequences are written. Weights are in the file as
// the layer has them; what they need on the way to a product are nodes that every runtime folds.
#include <cmath>
#include <numeric>

#include "engine/io/onnx/export/layer_writer.h"
#include "engine/io/onnx/operators/import_state.h"
#include "engine/layers/lengths.h"
#include "engine/layers/positions.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using Attributes = std::map<std::string, Attribute>;

constexpr float kLowest = -1e30F;  // e to that is 0, less whatever
constexpr char kTurn[] = "Transpose";

std::string turned(LayerWriter& w, const std::string& weight, const std::string& short_name) {
  return w.emit_part(kTurn, {weight}, short_name, {{"perm", Ints{1, 0}}});
}

Ints counted(std::int64_t count) {
  Ints numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// What is seen of `keys` positions, as truth values that meet scores [..., keys]; empty: all.
// `axes`: how many axes are between the samples and the keys.
std::string seen_keys(LayerWriter& w, const std::string& lengths, std::int64_t axes,
                      std::int64_t keys, std::int64_t causal_queries) {
  if (lengths.empty() && causal_queries == 0) return {};
  const std::string numbers = w.add_ints("keys", counted(keys));
  std::string within, before;
  if (!lengths.empty()) {
    Ints dims(static_cast<std::size_t>(axes) + 2, 1);
    dims[0] = 0;
    const std::string counts =
        w.emit_part("Reshape", {lengths, w.add_ints("one_a_sample", dims)}, "lengths");
    within = w.emit_part("Less", {numbers, counts}, "within");
  }
  if (causal_queries > 0) {
    const std::string rows =
        w.add_constant("queries", Tensor::of_ints({causal_queries, 1}, counted(causal_queries)));
    before = w.emit_part("LessOrEqual", {numbers, rows}, "before");
  }
  if (within.empty() || before.empty()) return within.empty() ? before : within;
  return w.emit_part("And", {within, before}, "seen");
}

// The softmax of what is seen; zeros for a sample of which nothing is, as the layers have it.
std::string seen_softmax(LayerWriter& w, std::string scores, const std::string& seen,
                         bool has_lengths, const std::string& to) {
  const Attributes last = {{"axis", std::int64_t{-1}}};
  if (!seen.empty())
    scores = w.emit_part("Where", {seen, scores, w.add_number("lowest", kLowest)}, "hidden");
  if (!has_lengths) return w.emit("Softmax", {scores}, to, last);
  const std::string shares = w.emit_part("Softmax", {scores}, "shares", last);
  return w.emit("Where", {seen, shares, w.add_number("none", 0)}, to);
}

// One of query, key and value by its rows of the weights: [N, heads, L, F], or the last two turned.
std::string projected(LayerWriter& w, const std::string& x, std::int64_t part,
                      const std::vector<std::string>& weights, const Ints& order) {
  constexpr const char* kNames[] = {"query", "key", "value"};
  const std::string name = kNames[part];
  const std::int64_t width = w.input_info().dims.back(), heads = w.reader().integer("heads");
  const auto rows_of = [&](const std::string& weight, const std::string& short_name) {
    return w.emit_part("Slice",
                       {weight, w.add_ints(name + "_from", {part * width}),
                        w.add_ints(name + "_to", {(part + 1) * width}), w.add_ints("rows", {0})},
                       name + short_name);
  };
  const std::string weight = turned(w, rows_of(weights[0], "_rows"), name + "_weight");
  std::string rows = w.emit_part("MatMul", {x, weight}, name + "_product");
  if (weights.size() > 1) rows = w.emit_part("Add", {rows, rows_of(weights[1], "_bias")}, name);
  const std::string split = w.add_ints("split", {0, 0, heads, width / heads});
  const std::string parted = w.emit_part("Reshape", {rows, split}, name + "_split");
  return w.emit_part(kTurn, {parted}, name + "_heads", {{"perm", order}});
}

// The input that holds lengths; empty if there is none, and it goes from the others.
std::string take_lengths(const LayerWriter& w, std::vector<std::string>& inputs) {
  if (!has_lengths(w.input_infos())) return {};
  std::string lengths = inputs.back();
  inputs.pop_back();
  return lengths;
}

void add_attention(LayerWriter& w) {
  std::vector<std::string> from = w.inputs();
  const std::string lengths = take_lengths(w, from);
  const std::int64_t queries = w.input_infos()[0].dims[1],
                     keys = w.input_infos()[from.size() > 1 ? 1 : 0].dims[1];
  from.resize(3, from.back());
  std::vector<std::string> weights = {w.add_weight("in_proj_weight")};
  const bool bias = w.flag("bias", true);
  if (bias) weights.push_back(w.add_weight("in_proj_bias"));
  const std::string query = projected(w, from[0], 0, weights, {0, 2, 1, 3}),
                    key = projected(w, from[1], 1, weights, {0, 2, 3, 1}),
                    value = projected(w, from[2], 2, weights, {0, 2, 1, 3});
  const std::int64_t width = w.input_info().dims.back();
  const auto depth = static_cast<double>(width / w.reader().integer("heads"));
  const std::string share = w.add_number("share", static_cast<float>(1 / std::sqrt(depth)));
  const std::string scores = w.emit_part("MatMul", {query, key}, "scores");
  const std::string scaled = w.emit_part("Mul", {scores, share}, "scaled");
  const std::string seen = seen_keys(w, lengths, 2, keys, w.flag("causal", false) ? queries : 0);
  const std::string shares =
      seen_softmax(w, scaled, seen, !lengths.empty(), w.name() + ".probabilities");
  const std::string heads = w.emit_part("MatMul", {shares, value}, "contexts");
  const std::string rows = w.emit_part(kTurn, {heads}, "by_rows", {{"perm", Ints{0, 2, 1, 3}}});
  const std::string context =
      w.emit_part("Reshape", {rows, w.add_ints("joined", {0, 0, width})}, "context");
  const std::string weight = turned(w, w.add_weight("out_proj_weight"), "out_weight");
  if (!bias) {
    w.emit("MatMul", {context, weight});
    return;
  }
  w.emit("Add",
         {w.emit_part("MatMul", {context, weight}, "product"), w.add_weight("out_proj_bias")});
}

void add_location_attention(LayerWriter& w) {
  std::vector<std::string> from = w.inputs();
  const std::string lengths = take_lengths(w, from);
  const std::string between = w.add_ints("between", {1}), last = w.add_ints("last", {2});
  const std::string query_weight = turned(w, w.add_weight("query_weight"), "query_turned");
  const std::string query = w.emit_part(
      "Unsqueeze", {w.emit_part("MatMul", {from[0], query_weight}, "query_row"), between}, "query");
  const std::string lines =
      w.emit_part("Concat",
                  {w.emit_part("Unsqueeze", {from[3], between}, "before_line"),
                   w.emit_part("Unsqueeze", {from[4], between}, "sum_line")},
                  "lines", {{"axis", std::int64_t{1}}});
  const std::int64_t kernel = w.reader().integer("kernel", 31);
  const std::string taps =
      w.emit_part("Conv", {lines, w.add_weight("conv_weight")}, "convolved",
                  {{"kernel_shape", Ints{kernel}}, {"pads", Ints{kernel / 2, kernel / 2}}});
  const std::string places = w.emit_part(kTurn, {taps}, "places", {{"perm", Ints{0, 2, 1}}});
  const std::string location_weight = turned(w, w.add_weight("location_weight"), "location_turned");
  const std::string location = w.emit_part("MatMul", {places, location_weight}, "location");
  const std::string with_query = w.emit_part("Add", {from[2], query}, "with_query");
  const std::string hidden =
      w.emit_part("Tanh", {w.emit_part("Add", {with_query, location}, "sum")}, "tanh");
  const std::string column =
      w.emit_part("Unsqueeze", {w.add_weight("energy_weight"), between}, "energy_column");
  const std::string energy =
      w.emit_part("Squeeze", {w.emit_part("MatMul", {hidden, column}, "energies"), last}, "energy");
  const std::string seen = seen_keys(w, lengths, 0, w.input_infos()[1].dims[1], 0);
  const std::string shares = seen_softmax(w, energy, seen, !lengths.empty(), w.name() + ":1");
  const std::string row = w.emit_part("Unsqueeze", {shares, between}, "row");
  w.emit("Squeeze", {w.emit_part("MatMul", {row, from[1]}, "context"), between});
}

void add_positions(LayerWriter& w) {
  const ::moil::Dims& d = w.input_info().dims;
  std::vector<float> table(static_cast<std::size_t>(d[1] * d[2]));
  for (std::int64_t l = 0; l < d[1]; ++l)
    write_position(static_cast<double>(l),
                   {table.data() + l * d[2], static_cast<std::size_t>(d[2])});
  std::string x = w.inputs()[0];
  const auto scale = static_cast<float>(w.reader().number("scale", 1));
  if (scale != 1) x = w.emit_part("Mul", {x, w.add_number("scale", scale)}, "scaled");
  const std::string constant =
      w.add_constant(kConstantSuffix + 1, Tensor::of({d[1], d[2]}, std::move(table)));
  w.emit("Add", {x, constant});
}

void add_conv1d(LayerWriter& w) {
  const Attributes swapped = {{"perm", Ints{0, 2, 1}}};
  std::vector<std::string> from = {w.emit_part(kTurn, w.inputs(), "channels", swapped),
                                   w.add_weight("weight")};
  if (w.flag("bias", true)) from.push_back(w.add_weight("bias"));
  const auto one = [&](const char* property) { return Ints{w.reader().integer(property, 1, 1)}; };
  const std::string convolved = w.emit_part("Conv", from, "convolved",
                                            {{"kernel_shape", one("kernel")},
                                             {"strides", one("stride")},
                                             {"dilations", one("dilation")},
                                             {"pads", w.two("padding", 0)},
                                             {"group", w.reader().integer("groups", 1, 1)}});
  w.emit(kTurn, {convolved}, {}, swapped);
}

}  // namespace

void add_attention_writers(LayerWriters& writers) {
  writers.insert({{"conv1d", add_conv1d},
                  {"location_attention", add_location_attention},
                  {"multi_head_attention", add_attention},
                  {"positional_encoding", add_positions}});
}

}  // namespace moil::onnx
