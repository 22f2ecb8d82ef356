#include "engine/io/onnx/onnx_import.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/input_ends.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"
#include "engine/io/onnx/problems.h"
#include "engine/io/onnx/weight_ties.h"
#include "engine/io/onnx/written_layers.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/realizers.h"
#include "engine/model/surgery.h"
#include "engine/run/network.h"

namespace moil::onnx {
namespace {

// Operators that give elements of their first input alone, in whatever order and as often.
bool keeps_elements(const std::string& op) {
  static const std::set<std::string> kOperators = {
      "Identity",  "Cast",   "Reshape", "Squeeze",        "Unsqueeze",
      "Transpose", "Expand", "Gather",  "QuantizeLinear", "DequantizeLinear"};
  return kOperators.contains(op);
}

// "?x3x?x?", the open ones as question marks.
std::string text_of(const std::vector<std::int64_t>& dims) {
  std::string text;
  for (const std::int64_t d : dims)
    text += (text.empty() ? "" : "x") + (d < 0 ? std::string("?") : std::to_string(d));
  return text.empty() ? "of any rank" : text;
}

// The one that is asked for, or the only one.
std::vector<GraphValue> chosen_outputs(const Graph& graph, const ImportOptions& options) {
  if (options.output.empty() && graph.outputs.size() < 2) return graph.outputs;
  std::string names;
  for (const GraphValue& output : graph.outputs) {
    if (!options.output.empty() && output.name == options.output) return {output};
    names += (names.empty() ? "\"" : ", \"") + output.name + "\"";
  }
  const std::string all = "its outputs are " + (names.empty() ? "none" : names);
  throw Error(ErrorCode::kInvalidArgument,
              options.output.empty()
                  ? all + "; say which one with " + options.output_name
                  : options.output_name + " is \"" + options.output + "\"; " + all);
}

// "conv.weight" of "conv.weight_quantized", as a quantiser names it.
std::string without_suffix(const std::string& source) {
  constexpr std::string_view kSuffix = "_quantized";
  return source.ends_with(kSuffix) ? source.substr(0, source.size() - kSuffix.size()) : source;
}

class Importer {
 public:
  Importer(const Graph& graph, const ImportOptions& options)
      : graph_(graph),
        options_(options),
        outputs_(chosen_outputs(graph, options)),
        ends_(graph),
        index_(graph),
        patterns_(graph, index_),
        written_(graph, index_),
        state_(graph, outputs_) {}

  ImportedModel run() {
    if (graph_.opset < kOldestOpset || graph_.opset > kNewestOpset)
      throw Error(ErrorCode::kUnimplemented, "opset " + std::to_string(graph_.opset) +
                                                 "; supported are " + std::to_string(kOldestOpset) +
                                                 " to " + std::to_string(kNewestOpset));
    for (const GraphValue& input : graph_.inputs) add_input(input);
    needed_ = needed_in_order();
    for (const std::size_t i : needed_) state_.add_reader(graph_.nodes[i]);
    for (const std::size_t i : needed_) import_node(graph_.nodes[i]);
    problems_.refuse_if_any(graph_.nodes.size(), "nodes");
    set_outputs();
    return finish();
  }

 private:
  void add_input(const GraphValue& input) {
    std::vector<std::int64_t> dims = input.dims;
    const auto& given = options_.input_dims;
    if (!given.empty()) {
      if (dims.empty()) dims.assign(given.size() + 1, -1);
      if (given.size() + 1 != dims.size())
        throw Error(ErrorCode::kInvalidArgument,
                    "input \"" + input.name + "\" has " + std::to_string(dims.size()) +
                        " dimensions with the batch, not " + std::to_string(given.size() + 1));
      for (std::size_t k = 1; k < dims.size(); ++k) {
        if (dims[k] >= 0 && dims[k] != given[k - 1])
          throw Error(ErrorCode::kInvalidArgument,
                      "input \"" + input.name + "\" is " + text_of(input.dims) +
                          " in the file, batch first, and " + options_.input_dims_name +
                          " says otherwise");
        dims[k] = given[k - 1];
      }
    }
    const std::size_t least = input.is_integer ? 1 : 2;  // a number a sample, as lengths are
    if (dims.size() < least || std::find(dims.begin() + 1, dims.end(), -1) != dims.end())
      throw Error(ErrorCode::kInvalidArgument,
                  "input \"" + input.name + "\": the file leaves its dims open (" + text_of(dims) +
                      ", batch first); say those of one sample with " + options_.input_dims_name +
                      (dims.size() == 2 ? ", such as 16000" : ", such as 3 224 224"));
    if (!input.is_float && !input.is_integer && !input.is_short)
      throw Error(ErrorCode::kUnimplemented,
                  "input \"" + input.name + "\" is neither of floats nor of integers");
    if (dims[0] < 0) dims[0] = 1;
    const bool turned = dims.size() == 4 && ends_.is_turned_to_channels(input.name);
    const bool as_floats = input.is_float || ends_.becomes_floats(input.name);
    state_.add_input(input.name, dims,
                     as_floats ? moil::ElementType::kFloat32 : moil::ElementType::kInt32,
                     turned ? View::kChannelsLast : View::kWhole);
    takes_bytes_ = takes_bytes_ || (as_floats && input.is_byte);
    if (as_floats && !input.is_float)
      remarks_.push_back("input \"" + input.name +
                         "\" is of whole numbers in the file; here it takes the same as floats");
  }

  // The nodes that the outputs depend on, each behind those that feed it.
  std::vector<std::size_t> needed_in_order() {
    std::map<std::string, std::size_t> producers;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const std::string& output : graph_.nodes[i].outputs) {
        if (output.empty()) continue;
        if (!producers.emplace(output, i).second)
          throw Error(ErrorCode::kBadData, "two nodes compute \"" + output + "\"");
        if (state_.find(output) != nullptr)
          throw Error(ErrorCode::kBadData, graph_.nodes[i].label() + " computes \"" + output +
                                               "\", which is an input or a constant");
      }
    }
    enum class Mark { kNew, kOpen, kDone };
    std::vector<Mark> marks(graph_.nodes.size(), Mark::kNew);
    std::vector<std::size_t> order;
    std::vector<std::pair<std::size_t, std::size_t>> stack;  // node, and its input that is next
    const auto enter = [&](const std::string& name, const std::string& reader) {
      if (name.empty() || state_.find(name) != nullptr) return;
      const auto it = producers.find(name);
      if (it == producers.end())
        throw Error(ErrorCode::kBadData,
                    reader + " reads \"" + name + "\", which nothing computes");
      if (marks[it->second] == Mark::kOpen)
        throw Error(ErrorCode::kBadData,
                    graph_.nodes[it->second].label() + " depends on its own output");
      if (marks[it->second] == Mark::kDone) return;
      marks[it->second] = Mark::kOpen;
      stack.emplace_back(it->second, 0);
    };
    for (const GraphValue& output : outputs_) {
      enter(written_.awaited(output.name, nullptr), "the graph's output");
      while (!stack.empty()) {
        auto& [i, next] = stack.back();
        const Node& node = graph_.nodes[i];
        if (next < node.inputs.size()) {
          const std::string& name = node.inputs[next++];
          enter(written_.awaited(name, &node), node.label());
          continue;
        }
        marks[i] = Mark::kDone;
        order.push_back(i);
        stack.pop_back();
      }
    }
    return order;
  }

  void import_node(const Node& node) {
    if (node.outputs.empty()) throw Error(ErrorCode::kBadData, node.label() + " has no output");
    if (const WrittenLayer* layer = written_.at(node)) return import_layer(node, *layer);
    import_operator(node, written_.is_part(node));
  }

  // Node by node if it is not quite what exports write.
  void import_layer(const Node& end, const WrittenLayer& layer) {
    try {
      if (import_written(state_, end, layer)) return;
    } catch (const Unsupported& e) {
      return tell(end, e.what());
    }
    for (const std::size_t i : needed_) {
      const Node& node = graph_.nodes[i];
      const bool own =
          std::find(layer.nodes.begin(), layer.nodes.end(), &node) != layer.nodes.end();
      if (own && state_.find(node.outputs[0]) == nullptr) import_operator(node, false);
    }
  }

  // of_layer: its end makes the layer that it is part of.
  void import_operator(const Node& node, bool of_layer) {
    const bool known = node.domain.empty() && operators().contains(node.op);
    std::vector<const Tensor*> constants;
    bool constant = true, reachable = true;
    for (const std::string& name : node.inputs) {
      const Value* value = name.empty() ? nullptr : state_.find(name);
      reachable = reachable && (name.empty() || value != nullptr);
      constant = constant && (name.empty() || (value != nullptr && value->constant));
      constants.push_back(value == nullptr ? nullptr : value->constant.get());
    }
    if (constant && node.op == "Constant" && node.domain.empty() && node.has("value"))
      return keep_own(node);
    if (constant) {
      if (auto folded = fold(node, constants)) return keep(node, std::move(*folded));
    }
    if (of_layer) return;
    if (!constant && reachable && patterns_.is_part(node)) return leave(node);
    if (!known && !can_fold(node)) return tell(node, "the operator is not supported");
    if (!reachable) return;  // behind one that was told of
    if (!known) return tell(node, "the operator is supported for constants alone");
    try {
      const std::size_t layers = state_.description().layers.size();
      if (!import_pattern(node)) operators().at(node.op)(state_, node);
      for (std::size_t i = 0; i < node.inputs.size(); ++i) state_.claim_weight(node, i, layers);
      check_outputs(node);
    } catch (const Unsupported& e) {
      tell(node, e.what());
    }
  }

  // Its function's end computes what it is for.
  void leave(const Node& node) {
    for (const std::string& name : node.inputs)
      if (const Value* value = state_.find(name); value != nullptr && !value->constant)
        return mark_pending(state_, node, *value);
  }

  bool import_pattern(const Node& node) {
    if (const NormPattern* norm = patterns_.norm(node))
      return import_norm(state_, node, *norm), true;
    if (const SoftmaxPattern* softmax = patterns_.softmax(node))
      return import_softmax(state_, node, *softmax), true;
    if (const LookupPattern* lookup = patterns_.lookup(node))
      return import_lookup(state_, node, *lookup), true;
    return false;
  }

  void check_outputs(const Node& node) const {
    for (const std::string& output : node.outputs)
      if (!output.empty() && state_.find(output) == nullptr && state_.is_read(output))
        throw Unsupported("its output \"" + output + "\" is not supported");
  }

  void keep(const Node& node, Tensor folded) {
    state_.spend(node, folded.elements());
    Value value;
    value.constant = std::make_shared<Tensor>(std::move(folded));
    if (keeps_elements(node.op)) value.source = source_of(node);
    if (value.constant->is_float) value.root = roots_of(node);
    if (node.op == "DequantizeLinear" && value.constant->elements() > 1)
      value.root = without_suffix(node.inputs[0]);
    state_.set(node.outputs[0], std::move(value));
  }

  // A Constant node's tensor is the file's, as initializers are.
  void keep_own(const Node& node) {
    const Tensor* tensor = node.tensor("value");
    Value value;
    value.constant = {std::shared_ptr<void>(), tensor};
    if (tensor->is_float && tensor->elements() > 1) value.root = node.outputs[0];
    state_.set(node.outputs[0], std::move(value));
  }

  // The weights that a constant is made of; none if it is made of shapes and single numbers.
  std::string roots_of(const Node& node) const {
    std::set<std::string> roots;
    for (const std::string& name : node.inputs)
      if (const Value* value = name.empty() ? nullptr : state_.find(name))
        if (!value->root.empty()) roots.insert(value->root);
    std::string text;
    for (const std::string& root : roots) text += (text.empty() ? "" : ", ") + root;
    return text;
  }

  // Exporters keep equal weights once; the others are that one's by their own names.
  std::string source_of(const Node& node) const {
    const std::string& own = node.outputs[0];
    if (node.op == "Identity" && own[0] != '/' && !parameter_of(own).empty()) return own;
    return without_suffix(state_.find(node.inputs[0])->source);
  }

  void tell(const Node& node, const std::string& what) {
    problems_.tell(node.label() + ": " + what);
  }

  void set_outputs() {
    for (const GraphValue& output : outputs_) {
      const std::string& name = output.name;
      const Value* value = state_.find(name);
      Node reader{name, "output", "", {name}, {}, {}};
      if (value != nullptr && !value->constant && value->form != Form::kPending)
        value = &state_.data(reader, 0);
      if (value == nullptr || value->layer.empty() || state_.is_input(*value))
        throw Error(ErrorCode::kUnimplemented,
                    "output \"" + name + "\" is not computed by a layer");
      if (value->batch_axis != 0)
        throw Error(ErrorCode::kUnimplemented,
                    "output \"" + name + "\" does not have the batch first");
      state_.description().outputs.push_back(value->layer);
    }
    if (outputs_.empty()) throw Error(ErrorCode::kBadData, "the graph has no output");
  }

  // Layers that became part of others are dropped, and every weight is held against its layer.
  ImportedModel finish() {
    ModelDescription& description = state_.description();
    sort_layers(description);
    description.name = options_.name.empty() ? graph_.name : options_.name;
    if (description.name.empty()) description.name = "model";
    ImportedModel model{realize_pruning(description), {}, remarks_, takes_bytes_};
    if (const int count = state_.quantizations(); count > 0)
      model.remarks.push_back(
          "it is quantised; it is imported as the floats that its numbers stand "
          "for, and " +
          std::to_string(count) + " roundings of activations are left out");
    take_weights(model);
    tie_weights(state_.ties(), model);
    fold_classifier_norm(model.description, model.weights);
    check_weights(build_graph(model.description, 1), model.weights);
    return model;
  }

  void take_weights(ImportedModel& model) {
    const moil::Graph graph = build_graph(model.description, 1);
    for (const auto& node : graph.nodes) {
      for (const WeightSpec& spec : node.weights) {
        const std::string name = weight_name(node, spec);
        const auto it = state_.weights().find(name);
        const auto dims = spec.dims.values();
        if (it == state_.weights().end() ||
            !std::equal(dims.begin(), dims.end(), it->second.dims.begin(), it->second.dims.end()))
          throw Error(ErrorCode::kBadData,
                      "weight \"" + name + "\" should be of " + spec.dims.to_string());
        model.weights.insert(state_.weights().extract(it));
      }
    }
  }

  // In an order that follows from the layers alone, whatever the nodes were in the file: each
  // behind those that feed it, from the outputs back.
  static void sort_layers(ModelDescription& description) {
    std::map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < description.layers.size(); ++i)
      index[description.layers[i].name] = i;
    std::vector<LayerDescription> sorted;
    std::set<std::size_t> entered;
    std::vector<std::pair<std::size_t, std::size_t>> stack;  // layer, and its input that is next
    const auto enter = [&](const std::string& name) {
      const auto it = index.find(split_value_name(name).first);
      if (it != index.end() && entered.insert(it->second).second) stack.emplace_back(it->second, 0);
    };
    for (const std::string& output : description.outputs) {
      enter(output);
      while (!stack.empty()) {
        auto& [i, next] = stack.back();
        const LayerDescription& layer = description.layers[i];
        if (next < layer.inputs.size()) {
          const std::string name = layer.inputs[next++];
          enter(name);
          continue;
        }
        sorted.push_back(layer);
        stack.pop_back();
      }
    }
    description.layers = std::move(sorted);
  }

  const Graph& graph_;
  const ImportOptions& options_;
  const std::vector<GraphValue> outputs_;
  const InputEnds ends_;
  const GraphIndex index_;
  const Patterns patterns_;
  const WrittenLayers written_;
  std::vector<std::size_t> needed_;  // nodes, in order
  ImportState state_;
  std::vector<std::string> remarks_;
  bool takes_bytes_ = false;
  Problems problems_;
};

}  // namespace

ImportedModel import_onnx(const Graph& graph, const ImportOptions& options) {
  return Importer(graph, options).run();
}

}  // namespace moil::onnx
