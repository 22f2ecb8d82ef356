// Functions that are found in several nodes, one change at a time: what is still imported computes
// what the nodes say (reference.h), and all else is an error that says why.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "engine/device/conv/kernel_selector.h"
#include "engine/io/model_json.h"
#include "engine/model/preparation.h"
#include "engine/run/network.h"
#include "tests/engine/io/onnx/builder.h"
#include "tests/engine/io/onnx/reference.h"
#include "tests/engine/io/onnx/single_layers.h"

namespace moil::onnx {
namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBatch = 2;
constexpr std::size_t kMostBytesComputed = 4 << 20;

// Different each time, and none like another.
float next_number() {
  static int count = 0;
  return static_cast<float>(std::sin(++count * 1.7)) + 0.2F;
}

void vary(Tensor& tensor) {
  for (float& v : tensor.floats) v = next_number();
}

class Parts : public Builder {
 public:
  explicit Parts(Ints dims, bool is_float = true) {
    graph.opset = 14;
    graph.inputs = {{"image", std::move(dims), is_float, !is_float}};
  }
  std::string varied(const std::string& name, Ints dims) {
    floats(name, std::move(dims));
    vary(graph.constants[name]);
    return name;
  }
  std::string number(float value) {
    const std::string name = "n" + std::to_string(graph.constants.size());
    return floats(name, {}, value);
  }
  std::string list(Ints values) {
    const std::string name = "l" + std::to_string(graph.constants.size());
    return ints(name, std::move(values));
  }
  // Something that depends on the axes behind what was found.
  Graph ended() {
    add("Softmax", {}, {{"axis", std::int64_t{1}}});
    graph.outputs = {{last, {}, true}};
    return graph;
  }
};

const Ints kSequence = {-1, 4, 4};  // as many places as rows: an axis can be taken for another

Graph norm_by_squares(std::int64_t axis, bool keeps, bool turned) {
  Parts b(kSequence);
  const Ints shape = axis == 1 ? Ints{-1, 1, 4} : Ints{-1, 4, 1};
  const auto back = [&](const std::string& name) {
    if (keeps) return name;
    const std::string dims = b.list({1, shape[1], shape[2]});
    return b.add_of("Expand", {b.add_of("Reshape", {name, b.list(shape)}), dims});
  };
  const std::map<std::string, Attribute> kept = {{"keepdims", std::int64_t{keeps}}};
  const auto product = [&](const std::string& x, const std::string& y) {
    return b.add_of("Mul", turned ? Names{y, x} : Names{x, y});
  };
  const std::string axes = b.list({axis}), share = b.number(0.25F);
  const std::string mean = product(b.add_of("ReduceSum", {"image", axes}, kept), share);
  const std::string square = b.add_of("Mul", {"image", "image"});
  const std::string squares = product(b.add_of("ReduceSum", {square, axes}, kept), share);
  const std::string of_mean = b.add_of("Mul", {mean, mean});
  const std::string variance = b.add_of("Sub", {squares, of_mean});
  const std::string limit = b.add_of("Max", {b.number(0), variance});
  b.add_of("Add", {back(limit), b.number(1e-3F)});
  b.add("Sqrt");
  const std::string inverse = b.add("Reciprocal");
  const std::string gamma = b.varied("gamma", axis == 1 ? Ints{1, 4, 1} : Ints{4});
  const std::string scale = product(inverse, gamma);
  product(b.add_of("Sub", {"image", back(mean)}), scale);
  b.add("Add", {b.varied("beta", {4})});
  return b.ended();
}

Graph softmax_in_parts(std::int64_t axis, bool keeps, bool limited) {
  Parts b(kSequence);
  const std::map<std::string, Attribute> kept = {{"keepdims", std::int64_t{keeps}}};
  const Ints shape = axis == 1 ? Ints{0, 1, 4} : Ints{0, 4, 1};
  const auto back = [&](const std::string& name) {
    return keeps ? name : b.add_of("Reshape", {name, b.list(shape)});
  };
  auto of_largest = kept;
  of_largest["axes"] = Ints{axis};
  std::string most = b.add_of("ReduceMax", {"image"}, of_largest);
  if (limited) most = b.add_of("Max", {b.number(-HUGE_VALF), most});
  const std::string power = b.add_of("Exp", {b.add_of("Sub", {"image", back(most)})});
  const std::string sum = b.add_of("ReduceSum", {power, b.list({axis})}, kept);
  b.add_of("Div", {power, back(sum)});
  b.add("MatMul", {b.varied("w", {4, 3})});
  return b.ended();
}

Graph lookup(bool turned) {
  Parts b({-1, 5}, false);
  b.add("Reshape", {b.list({-1, 5, 1})});
  const std::string ids = b.add("Expand", {b.list({1, 5, 1})});
  b.graph.constants["row"] = Tensor::of_ints({1, 1, 6}, {0, 1, 2, 3, 4, 5});
  b.add_of("Equal", turned ? Names{"row", ids} : Names{ids, "row"});
  b.add("Cast", {}, {{"to", std::int64_t{1}}});
  b.add("MatMul", {b.varied("table.weight", {6, 3})});
  return b.ended();
}

Graph rows() {
  Parts b({-1, 5}, false);
  b.add_of("Gather", {b.varied("table.weight", {6, 3}), "image"});
  return b.ended();
}

Graph gelu(bool by_product, bool half_first) {
  Parts b(kSequence);
  const std::string x = b.add("Tanh");
  if (by_product)
    b.add("Mul", {b.number(0.70710678F)});
  else
    b.add("Div", {b.number(1.41421356F)});
  b.add("Erf");
  const std::string share = b.add("Add", {b.number(1)});
  if (half_first) {
    const std::string half = b.add_of("Mul", {x, b.number(0.5F)});
    b.add_of("Mul", {half, share});
  } else {
    b.add_of("Mul", {x, share});
    b.add("Mul", {b.number(0.5F)});
  }
  return b.ended();
}

Graph gelu_by_tanh(bool by_power) {
  Parts b(kSequence);
  const std::string x = "image";
  const std::string cube =
      by_power ? b.add_of("Pow", {x, b.number(3)}) : b.add_of("Mul", {x, b.add_of("Mul", {x, x})});
  const std::string bend = b.add_of("Mul", {b.number(0.044715F), cube});
  b.add_of("Add", {x, bend});
  b.add("Mul", {b.number(0.797884561F)});
  b.add("Tanh");
  const std::string share = b.add("Add", {b.number(1)});
  const std::string product = b.add_of("Mul", {x, share});
  b.add_of("Mul", {b.number(0.5F), product});
  return b.ended();
}

Graph norm(bool by_power, bool affine) {
  Parts b(kSequence);
  const std::string x = b.add("Tanh");
  const std::string mean = b.add("ReduceMean", {}, {{"axes", Ints{-1}}});
  const std::string centred = b.add_of("Sub", {x, mean});
  if (by_power)
    b.add("Pow", {b.number(2)});
  else
    b.add_of("Mul", {centred, centred});
  b.add("ReduceMean", {}, {{"axes", Ints{-1}}});
  b.add("Add", {b.number(1e-3F)});
  b.add("Sqrt");
  b.add_of("Div", {centred, b.last});
  if (affine) {
    b.add("Mul", {b.varied("gamma", {4})});
    b.add("Add", {b.varied("beta", {4})});
  }
  return b.ended();
}

Graph silu() {
  Parts b(kSequence);
  const std::string gate = b.add("Sigmoid");
  b.add_of("Mul", {"image", gate});
  return b.ended();
}

// Two heads, as exporters write them.
Graph attention(bool masked) {
  Parts b({-1, 4, 4});
  const auto head = [&](const std::string& which, const Ints& order) {
    b.add_of("MatMul", {"image", b.varied(which + ".weight", {4, 4})});
    b.add("Reshape", {b.list({0, 4, 2, 2})});
    return b.add("Transpose", {}, {{"perm", order}});
  };
  const std::string q = head("q", {0, 2, 1, 3}), k = head("k", {0, 2, 3, 1}),
                    v = head("v", {0, 2, 1, 3});
  b.add_of("MatMul", {q, k});
  b.add("Mul", {b.number(0.70710678F)});
  if (masked) {
    b.floats("mask", {4, 4}, 0);
    for (const std::size_t hidden : {1U, 2U, 3U, 6U, 7U, 11U})
      b.graph.constants["mask"].floats[hidden] = -60;
    b.add("Add", {"mask"});
  }
  b.add("Softmax", {}, {{"axis", std::int64_t{-1}}});
  b.add("MatMul", {v});
  b.add("Transpose", {}, {{"perm", Ints{0, 2, 1, 3}}});
  b.add("Reshape", {b.list({0, 4, 4})});
  b.add("MatMul", {b.varied("o.weight", {4, 3})});
  return b.ended();
}

// A spectrogram, as tf.signal.frame begins it: windows of 6 numbers, 2 apart.
Graph frames(bool windowed, bool in_parts) {
  Parts b({-1, 12});
  const std::int64_t width = in_parts ? 3 : 6, hop = in_parts ? 1 : 2;
  b.add("Reshape", {b.list(in_parts ? Ints{0, 6, 2} : Ints{0, 12})});
  Ints indices;
  for (std::int64_t i = 0; i < 3 * width; ++i) indices.push_back(i / width * hop + i % width);
  b.graph.constants["indices"] = Tensor::of_ints({3, width}, indices);
  b.add("Gather", {"indices"}, {{"axis", std::int64_t{1}}});
  b.add("Reshape", {b.list({0, 3, 6})});
  if (windowed) b.add("Mul", {b.varied("window", {6})});
  b.add("Unsqueeze", {b.list({2})});
  b.add("MatMul", {b.varied("cosines", {6, 4})});
  b.add("Squeeze", {b.list({2})});
  b.add("MatMul", {b.varied("bands", {4, 3})});
  b.add("Slice", {b.list({-1}), b.list({-9}), b.list({2}), b.list({-1})});
  return b.ended();
}

// Numbers of a sample by its own least and most, and a power of them.
Graph levelled() {
  Parts b({-1, 6});
  const std::map<std::string, Attribute> along = {{"axes", Ints{1}}};
  const std::string low = b.add_of("ReduceMin", {"image"}, along);
  const std::string above = b.add_of("Sub", {"image", low});
  const std::string most = b.add_of("ReduceMax", {above}, along);
  const std::string share = b.add_of("Div", {above, b.add_of("Add", {most, b.number(0.5F)})});
  const std::string bent = b.add_of("Pow", {share, b.number(0.4375F)});
  b.add_of("Add", {low, bent});
  b.add("Exp");
  b.add("Log");
  return b.ended();
}

std::map<std::string, Graph> graphs() {
  std::map<std::string, Graph> all = {{"lookup", lookup(false)},
                                      {"lookup turned", lookup(true)},
                                      {"levelled", levelled()},
                                      {"rows", rows()},
                                      {"silu", silu()}};
  for (const bool a : {false, true}) {
    const std::string form = a ? " 1" : " 0";
    all["gelu by tanh" + form] = gelu_by_tanh(a);
    all["attention" + form] = attention(a);
    all["frames" + form + " 0"] = frames(a, false);
    all["frames" + form + " 1"] = frames(a, true);
    for (const bool b : {false, true}) {
      const std::string both = form + (b ? " 1" : " 0");
      all["gelu" + both] = gelu(a, b);
      all["norm" + both] = norm(a, b);
      for (const std::int64_t axis : {1, 2}) {
        all["norm by squares" + both + " " + std::to_string(axis)] = norm_by_squares(axis, a, b);
        all["softmax" + both + " " + std::to_string(axis)] = softmax_in_parts(axis, a, b);
      }
    }
  }
  const auto written = single_layers();  // of the many forms those with all that there is
  for (const char* name : {"attention of one causal by lengths", "location by lengths", "positions",
                           "positions scaled", "conv1d of a stride"})
    all[name] = export_onnx(written.at(name).description, written.at(name).weights);
  return all;
}

// Rows and columns of images change places: `to_file` from memory's order.
std::vector<float> reordered(const TensorInfo& info, const float* values, bool to_file) {
  const auto count = static_cast<std::size_t>(info.dims.elements());
  std::vector<float> result(values, values + count);
  if (info.layout != Layout::kChannelsLast) return result;
  const std::int64_t channels = info.dims[1], pixels = info.dims[2] * info.dims[3];
  for (std::int64_t i = 0; i < info.dims.elements(); ++i) {
    const std::int64_t n = i / (channels * pixels), p = i / channels % pixels, c = i % channels;
    const auto file = static_cast<std::size_t>((n * channels + c) * pixels + p),
               memory = static_cast<std::size_t>(i);
    result[to_file ? file : memory] = values[to_file ? memory : file];
  }
  return result;
}

// What every input is fed, by a batch.
std::map<std::string, Numbers> fed(const Graph& graph, std::int64_t batch) {
  std::map<std::string, Numbers> inputs;
  for (const GraphValue& input : graph.inputs) {
    Numbers numbers{input.dims, {}, input.is_float};
    if (numbers.dims.empty()) continue;
    if (numbers.dims[0] < 0) numbers.dims[0] = batch;
    std::int64_t count = 1;
    for (const std::int64_t d : numbers.dims) {
      if (d < 1 || d > 1 << 16 || count * d > 1 << 16) throw NoRule("too large");
      count *= d;
    }
    for (std::int64_t i = 0; i < count; ++i)
      numbers.values.push_back(input.is_float ? std::sin(static_cast<double>(i) * 0.9) * 1.5
                                              : static_cast<double>((i * 7 + 2) % 5));
    inputs[input.name] = std::move(numbers);
  }
  return inputs;
}

class Sweep {
 public:
  explicit Sweep(std::string name) : name_(std::move(name)) {}

  void check(const Graph& graph, const std::string& change) {
    SCOPED_TRACE(name_ + ": " + change);
    for (const GraphValue& output : graph.outputs) {
      ImportOptions options;
      if (graph.outputs.size() > 1) options.output = output.name;
      ++tried;
      try {
        compare(graph, import_onnx(graph, options), output.name);
        ++imported;
      } catch (const Error& e) {
        EXPECT_FALSE(std::string(e.what()).empty());
      } catch (const std::exception& e) {
        ADD_FAILURE() << "neither imported nor an error of ours: " << e.what();
      }
    }
  }

  int tried = 0, imported = 0, compared = 0;

 private:
  static std::map<std::string, Numbers> expected_of(const Graph& graph, const std::string& output,
                                                    Numbers& expected) {
    for (const std::int64_t batch : {kBatch, std::int64_t{1}}) {
      try {
        auto inputs = fed(graph, batch);
        expected = by_the_rules(graph, inputs, output);
        return inputs;
      } catch (const NoRule&) {
      }
    }
    return {};
  }

  void compare(const Graph& graph, const ImportedModel& model, const std::string& output) {
    Numbers expected;
    const auto inputs = expected_of(graph, output, expected);
    if (is_none_to_compute(graph)) return;
    const std::vector<float>& found = found_by(graph, model, inputs);
    if (!inputs.empty() && !found.empty()) expect_equal(found, expected);
  }

  static bool is_none_to_compute(const Graph& graph) {
    for (const GraphValue& input : graph.inputs)
      for (const std::int64_t d : input.dims)
        if (d > 1 << 16) return true;
    for (const GraphValue& input : graph.inputs)  // batches that differ
      if (!input.dims.empty() && input.dims[0] != graph.inputs[0].dims[0]) return true;
    return false;
  }

  // Many changes lead to one model, which is computed once; nothing if it is too large.
  const std::vector<float>& found_by(const Graph& graph, const ImportedModel& model,
                                     const std::map<std::string, Numbers>& inputs) {
    std::string key = format_model(model.description);
    for (const auto& [name, weight] : model.weights)
      key.append(reinterpret_cast<const char*>(weight.data.data()),
                 weight.data.size() * sizeof(float));
    for (const auto& [name, numbers] : inputs)
      for (const std::int64_t d : numbers.dims) key += " " + std::to_string(d);
    const auto [it, is_new] = found_.try_emplace(std::move(key));
    if (is_new) it->second = computed(graph, model, inputs);
    return it->second;
  }

  static std::vector<float> computed(const Graph& graph, const ImportedModel& model,
                                     const std::map<std::string, Numbers>& inputs) {
    KernelSelector::Options options;
    options.measure = false;
    options.threads = 1;
    KernelSelector kernels(options);
    WeightMap weights = model.weights;
    const ModelDescription prepared = prepare_inference(model.description, weights);
    const std::int64_t batch = inputs.empty() ? 1 : inputs.begin()->second.dims[0];
    Network network(prepared, {.batch = batch, .plan = {}}, kernels);
    if (network.plan().memory.total_bytes > kMostBytesComputed) return {};
    network.allocate();
    network.load(weights);
    feed(network, graph, inputs);
    network.forward();
    return reordered(network.output_info(0), network.output(0), true);
  }

  static void feed(Network& network, const Graph& graph,
                   const std::map<std::string, Numbers>& inputs) {
    for (std::size_t i = 0; i < network.inputs(); ++i) {
      const TensorInfo& info = network.input_info(i);
      const auto count = static_cast<std::size_t>(info.dims.elements());
      std::vector<float> values(count, 0.0F);
      const auto it = i < graph.inputs.size() ? inputs.find(graph.inputs[i].name) : inputs.end();
      if (it != inputs.end()) {
        ASSERT_EQ(it->second.values.size(), count);
        std::copy(it->second.values.begin(), it->second.values.end(), values.begin());
      }
      if (info.type == moil::ElementType::kInt32)
        for (float& v : values) v = std::bit_cast<float>(static_cast<std::int32_t>(v));
      values = reordered(info, values.data(), false);
      std::copy(values.begin(), values.end(), network.input(i));
    }
  }

  void expect_equal(const std::vector<float>& found, const Numbers& expected) {
    double most = 1e-3;
    for (const double v : expected.values) {
      if (!(std::abs(v) < 1e15)) return;  // floats are at their end
      most = std::max(most, std::abs(v));
    }
    ASSERT_EQ(found.size(), expected.values.size());
    ++compared;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (std::abs(static_cast<double>(found[i]) - expected.values[i]) <= 2e-3 * most) continue;
      ADD_FAILURE() << found[i] << " at " << i << ", expected " << expected.values[i];
      return;
    }
  }

  const std::string name_;
  std::map<std::string, std::vector<float>> found_;
};

// Every name that a node may read, and some that it may not.
Names names_in(const Graph& graph) {
  Names names = {"", "nothing"};
  for (const GraphValue& input : graph.inputs) names.push_back(input.name);
  for (const auto& [name, tensor] : graph.constants) names.push_back(name);
  for (const Node& node : graph.nodes) names.push_back(node.outputs[0]);
  return names;
}

void change_wires(Sweep& sweep, const Graph& graph) {
  const Names names = names_in(graph);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::string label = graph.nodes[n].label();
    Graph changed = graph;
    Names& inputs = changed.nodes[n].inputs;
    const Names before = inputs;
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (const std::string& name : names) {
        inputs = before;
        inputs[i] = name;
        sweep.check(changed, label + " reads \"" + name + "\" as " + std::to_string(i));
      }
      inputs = before;
      inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
      sweep.check(changed, label + " lacks input " + std::to_string(i));
      inputs = before;
      inputs.push_back(before[i]);
      sweep.check(changed, label + " has input " + std::to_string(i) + " once more");
    }
    inputs = {before.rbegin(), before.rend()};
    sweep.check(changed, label + " has its inputs turned");
  }
}

void change_operators(Sweep& sweep, const Graph& graph) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::string label = graph.nodes[n].label();
    Graph changed = graph;
    Node& node = changed.nodes[n];
    for (const char* op :
         {"Add",        "Sub",       "Mul",       "Div",        "Max",       "Min",
          "Pow",        "MatMul",    "Sqrt",      "Exp",        "Erf",       "Tanh",
          "Sigmoid",    "Neg",       "Relu",      "Reciprocal", "Identity",  "ReduceSum",
          "ReduceMean", "ReduceMax", "ReduceMin", "Log",        "Reshape",   "Expand",
          "Unsqueeze",  "Squeeze",   "Equal",     "Softmax",    "Transpose", "Gather",
          "Strange"}) {
      node.op = op;
      sweep.check(changed, label + " is " + op);
    }
    node.op = graph.nodes[n].op;
    node.domain = "strange";
    sweep.check(changed, label + " is of a strange domain");
    node.domain.clear();
    node.outputs.push_back("more");
    sweep.check(changed, label + " has one output more");
    node.outputs = {""};
    sweep.check(changed, label + " has an output without a name");
    node.outputs.clear();
    sweep.check(changed, label + " has no output");
  }
}

Names attributes_of(const Node& node) {
  static const std::map<std::string, Names> known = {{"Cast", {"to"}},
                                                     {"Gather", {"axis"}},
                                                     {"Reshape", {"allowzero"}},
                                                     {"Softmax", {"axis"}},
                                                     {"Transpose", {"perm"}},
                                                     {"ReduceMax", {"axes", "keepdims"}},
                                                     {"ReduceMin", {"axes", "keepdims"}},
                                                     {"Unsqueeze", {"axes"}},
                                                     {"Squeeze", {"axes"}},
                                                     {"ReduceMean", {"axes", "keepdims"}},
                                                     {"Conv", {"pads", "group"}},
                                                     {"Concat", {"axis"}},
                                                     {"ReduceSum", {"axes", "keepdims"}}};
  const auto it = known.find(node.op);
  return it == known.end() ? Names() : it->second;
}

void change_attributes(Sweep& sweep, const Graph& graph) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const std::string& name : attributes_of(graph.nodes[n])) {
      const std::string label = graph.nodes[n].label() + ": " + name;
      Graph changed = graph;
      auto& attributes = changed.nodes[n].attributes;
      if (attributes.erase(name) != 0) sweep.check(changed, label + " is gone");
      for (const std::int64_t v :
           {std::int64_t{-4}, std::int64_t{-2}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1},
            std::int64_t{2}, std::int64_t{3}, std::int64_t{9}, kMost, -kMost}) {
        attributes[name] = v;
        sweep.check(changed, label + " is " + std::to_string(v));
        attributes[name] = Ints{v};
        sweep.check(changed, label + " is a list of " + std::to_string(v));
      }
      for (const Ints& list : {Ints{}, Ints{1, 2}, Ints{0, 1, 2}, Ints{0, 2, 1}, Ints{1, 0, 2},
                               Ints{2, 1, 0}, Ints{0, 1, 3, 2}, Ints{0, 1, 2, 3}, Ints{0, 0, 0}}) {
        attributes[name] = list;
        sweep.check(changed, label + " is a list of " + std::to_string(list.size()));
      }
      attributes[name] = 0.5;
      sweep.check(changed, label + " is of another type");
    }
  }
}

// The tensor in another form. Its numbers stay as many as its dims say, as the reader sees to.
std::map<std::string, Tensor> forms_of(const Tensor& tensor) {
  std::map<std::string, Tensor> forms;
  for (const std::size_t more : {1U, 2U, 4U}) {
    Tensor& form = forms[std::to_string(more) + " axes before it"] = tensor;
    form.dims.insert(form.dims.begin(), more, 1);
  }
  forms["an axis behind it"] = tensor;
  forms["an axis behind it"].dims.push_back(1);
  forms["its axes turned"] = tensor;
  std::reverse(forms["its axes turned"].dims.begin(), forms["its axes turned"].dims.end());
  forms["a list"] = tensor;
  forms["a list"].dims = {tensor.elements()};
  forms["nothing"] = tensor.is_float ? Tensor::of({0}, {}) : Tensor::of_ints({0}, {});
  forms["no rows"] = tensor.is_float ? Tensor::of({0, 4}, {}) : Tensor::of_ints({0, 4}, {});
  forms["four times itself"] = tensor;
  Tensor& four = forms["four times itself"];
  four.dims.insert(four.dims.begin(), 4);
  for (int doubled = 0; doubled < 2; ++doubled) {
    four.floats.insert(four.floats.end(), four.floats.begin(), four.floats.end());
    four.ints.insert(four.ints.end(), four.ints.begin(), four.ints.end());
  }
  return forms;
}

std::map<std::string, Tensor> values_of(const Tensor& tensor) {
  std::map<std::string, Tensor> changed;
  if (tensor.is_float) {
    Tensor whole = Tensor::of_ints(tensor.dims, {});
    for (const float v : tensor.floats) whole.ints.push_back(static_cast<std::int64_t>(v));
    changed["whole numbers"] = whole;
    const float none = std::numeric_limits<float>::quiet_NaN();
    for (const float factor : {1.5F, 0.99F, -1.0F, 0.0F, 1e30F, HUGE_VALF, none}) {
      Tensor& other = changed["times " + std::to_string(factor)] = tensor;
      for (float& v : other.floats) v *= factor;
    }
    if (tensor.elements() > 1) (changed["one other"] = tensor).floats.back() += 1;
    return changed;
  }
  Tensor floats = Tensor::of(tensor.dims, {});
  for (const std::int64_t v : tensor.ints) floats.floats.push_back(static_cast<float>(v));
  changed["floats"] = floats;
  for (std::size_t i = 0; i < tensor.ints.size(); ++i)
    for (const std::int64_t v : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1},
                                 std::int64_t{2}, std::int64_t{4}, std::int64_t{8}, kMost, -kMost})
      (changed[std::to_string(i) + " is " + std::to_string(v)] = tensor).ints[i] = v;
  for (std::size_t i = 0; i + 1 < tensor.ints.size(); ++i) {
    Tensor& other = changed["two change places at " + std::to_string(i)] = tensor;
    std::swap(other.ints[i], other.ints[i + 1]);
  }
  return changed;
}

void change_constants(Sweep& sweep, const Graph& graph) {
  for (const auto& [name, tensor] : graph.constants) {
    Graph changed = graph;
    for (const auto& forms : {forms_of(tensor), values_of(tensor)}) {
      for (const auto& [form, other] : forms) {
        changed.constants[name] = other;
        sweep.check(changed, name + ": " + form);
      }
    }
    changed = graph;
    changed.constants.erase(name);
    sweep.check(changed, name + " is not there");
    changed.inputs.push_back({name, tensor.dims, tensor.is_float, !tensor.is_float});
    sweep.check(changed, name + " is an input");
    changed.inputs.back().dims.insert(changed.inputs.back().dims.begin(), -1);
    sweep.check(changed, name + " is an input, one a sample");
    changed = graph;
    changed.constants["of " + name] = tensor;
    changed.constants.erase(name);
    changed.nodes.push_back({"made", "Identity", "", {"of " + name}, {name}, {}});
    sweep.check(changed, name + " is made by a node");
    changed.nodes.back() = {name, "Constant", "", {}, {name}, {{"value", tensor}}};
    changed.constants.erase("of " + name);
    sweep.check(changed, name + " is a node's");
  }
}

void change_inputs(Sweep& sweep, const Graph& graph) {
  const Ints before = graph.inputs[0].dims;
  Graph changed = graph;
  Ints& dims = changed.inputs[0].dims;
  for (std::size_t k = 0; k < before.size(); ++k) {
    for (const std::int64_t v :
         {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3},
          std::int64_t{8}, std::int64_t{1} << 31, std::int64_t{1} << 40, kMost, -kMost}) {
      dims = before;
      dims[k] = v;
      sweep.check(changed, "dimension " + std::to_string(k) + " is " + std::to_string(v));
    }
    dims = before;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(k));
    sweep.check(changed, "dimension " + std::to_string(k) + " is gone");
    dims = before;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(k), 4);
    sweep.check(changed, "a dimension before " + std::to_string(k));
  }
  changed = graph;
  std::swap(changed.inputs[0].is_float, changed.inputs[0].is_integer);
  sweep.check(changed, "an input of the other type");
}

// What is part of a function is somebody else's, too.
void read_parts(Sweep& sweep, const Graph& graph) {
  for (const Node& node : graph.nodes) {
    Graph changed = graph;
    changed.outputs.push_back({node.outputs[0], {}, true});
    sweep.check(changed, node.label() + " is an output, too");
    changed = graph;
    changed.outputs = {{node.outputs[0], {}, true}};
    sweep.check(changed, node.label() + " is the output");
    for (const char* op : {"Tanh", "Sqrt", "Identity"}) {
      changed = graph;
      changed.nodes.push_back({"other", op, "", {node.outputs[0]}, {"other"}, {}});
      changed.outputs.push_back({"other", {}, true});
      sweep.check(changed, node.label() + " is read by " + op + ", too");
    }
    changed = graph;
    changed.nodes.push_back({"again", node.op, "", node.inputs, {"again"}, node.attributes});
    changed.nodes.push_back({"both", "Add", "", {graph.outputs[0].name, "again"}, {"both"}, {}});
    changed.outputs = {{"both", {}, true}};
    sweep.check(changed, node.label() + " is computed twice");
  }
}

class EveryPatternMutation : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPatternMutation, AgreeOrAreRefused) {
  const Graph graph = graphs().at(GetParam());
  Sweep sweep(GetParam());
  sweep.check(graph, "as it is");
  ASSERT_EQ(sweep.compared, 1) << "it is not imported";
  change_wires(sweep, graph);
  change_operators(sweep, graph);
  change_attributes(sweep, graph);
  change_constants(sweep, graph);
  change_inputs(sweep, graph);
  read_parts(sweep, graph);
  EXPECT_GT(sweep.compared, 10);
  RecordProperty("tried", sweep.tried);
  RecordProperty("imported", sweep.imported);
  RecordProperty("compared", sweep.compared);
}

// Every form, once.
TEST(PatternMutations, ExportsComputeWhatLayersDo) {
  for (const auto& [name, model] : single_layers()) {
    const std::string& type = model.description.layers[0].type;
    if (type == "lstm" || type == "gru" || type == "rnn") continue;  // there are no rules for them
    Sweep sweep(name);
    sweep.check(export_onnx(model.description, model.weights), "as it is");
    EXPECT_EQ(sweep.compared, 1) << name;
  }
}

std::vector<std::string> names_of_graphs() {
  std::vector<std::string> names;
  for (const auto& [name, graph] : graphs()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Functions, EveryPatternMutation, ::testing::ValuesIn(names_of_graphs()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace moil::onnx
