#include "engine/io/onnx/written_layers.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "engine/io/onnx/export/onnx_export.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/model/graph.h"

namespace moil::onnx {

// A layer as an export writes it, alone in a graph: its name is kName, its inputs are "0", "1", ...
struct WrittenForm {
  LayerDescription layer;
  std::vector<InputDescription> inputs;
  Graph graph;
  std::map<std::string, std::size_t> producers;  // of its values: the node
};

namespace {

using Ints = std::vector<std::int64_t>;

constexpr char kName[] = "layer";

std::string name_of(const std::string& part) { return std::string(kName) + "." + part; }

Graph written(const LayerDescription& layer, const std::vector<InputDescription>& inputs,
              WeightMap weights) {
  ModelDescription model;
  model.inputs = inputs;
  model.layers = {layer};
  model.outputs = {kName};
  const moil::Graph built = build_graph(model, 1);
  for (std::size_t slot = 1; slot < built.nodes.at(0).outputs.size(); ++slot)
    model.outputs.push_back(std::string(kName) + ":" + std::to_string(slot));
  for (const WeightSpec& spec : built.nodes[0].weights) {
    NamedTensor& weight = weights[weight_name(built.nodes[0], spec)];
    if (!weight.dims.empty()) continue;
    const auto dims = spec.dims.values();
    weight.dims.assign(dims.begin(), dims.end());
    weight.data.resize(static_cast<std::size_t>(spec.dims.elements()));
  }
  return export_onnx(model, weights);
}

class Forms {
 public:
  Forms() {
    for (const bool bias : {true, false}) {
      for (const bool lengths : {false, true}) {
        for (const bool causal : {false, true}) add_attention(bias, lengths, causal);
      }
      Properties line = {{"out_channels", kWidth}, {"kernel", std::int64_t{1}}};
      if (!bias) line["bias"] = false;
      add("conv1d", std::move(line), {kRows}, false);
    }
    for (const bool lengths : {false, true})
      add("location_attention", {{"kernel", std::int64_t{1}}},
          {{kWidth}, kRows, kRows, {kLength}, {kLength}}, lengths);
    add("positional_encoding", {}, {kRows}, false);
    add("positional_encoding", {{"scale", 2.0}}, {kRows}, false);
    std::stable_sort(all.begin(), all.end(), [](const WrittenForm& a, const WrittenForm& b) {
      return a.graph.nodes.size() > b.graph.nodes.size();
    });
  }
  // The largest first: the ends of others may be parts of them.
  std::vector<WrittenForm> all;

 private:
  static constexpr std::int64_t kLength = 2, kWidth = 2;
  const Ints kRows = {kLength, kWidth};

  // By one input before two and three: they look the same if the inputs are one.
  void add_attention(bool bias, bool lengths, bool causal) {
    Properties properties = {{"heads", std::int64_t{1}}};
    if (!bias) properties["bias"] = false;
    if (causal) properties["causal"] = true;
    for (const std::size_t inputs : {1U, 2U, 3U})
      add("multi_head_attention", properties, std::vector<Ints>(inputs, kRows), lengths);
  }

  void add(const char* type, Properties properties, const std::vector<Ints>& inputs, bool lengths) {
    WrittenForm form;
    form.layer = {kName, type, {}, std::move(properties)};
    for (const Ints& dims : inputs) form.inputs.push_back({"", dims});
    if (lengths) form.inputs.push_back({"", {1}, moil::ElementType::kInt32});
    for (std::size_t i = 0; i < form.inputs.size(); ++i)
      form.layer.inputs.push_back(form.inputs[i].name = std::to_string(i));
    form.graph = written(form.layer, form.inputs, {});
    for (std::size_t n = 0; n < form.graph.nodes.size(); ++n)
      for (const std::string& output : form.graph.nodes[n].outputs) form.producers[output] = n;
    all.push_back(std::move(form));
  }
};

const std::vector<WrittenForm>& forms() {
  static const Forms made;
  return made.all;
}

}  // namespace

WrittenLayers::WrittenLayers(const Graph& graph, const GraphIndex& index)
    : graph_(graph), index_(index) {
  for (const WrittenForm& form : forms())
    for (const Node& node : graph.nodes) try_end(node, form);
}

const WrittenLayer* WrittenLayers::at(const Node& end) const {
  const auto it = ends_.find(&end);
  return it == ends_.end() ? nullptr : &it->second;
}

const std::string& WrittenLayers::awaited(const std::string& value, const Node* reader) const {
  const auto it = further_.find(value);
  const bool waits = it != further_.end() && reader != it->second && !parts_.contains(reader);
  return waits ? it->second->outputs[0] : value;
}

void WrittenLayers::try_end(const Node& end, const WrittenForm& form) {
  if (end.outputs.size() != 1 || end.outputs[0].empty()) return;
  WrittenLayer found{&form, {}, std::vector<const Node*>(form.graph.nodes.size())};
  if (!match(end.outputs[0], kName, found)) return;
  const bool fits = std::none_of(found.nodes.begin(), found.nodes.end(), [&](const Node* node) {
    return node == nullptr || parts_.contains(node) || ends_.contains(node);
  });
  if (!fits || is_read_elsewhere(found)) return;
  for (const Node* node : found.nodes)
    if (node != &end) parts_.insert(node);
  for (const GraphValue& output : form.graph.outputs)
    if (output.name != kName) further_[found.names.at(output.name)] = &end;
  ends_[&end] = std::move(found);
}

// Whether `name` is computed as the form computes `of_form`.
bool WrittenLayers::match(const std::string& name, const std::string& of_form,
                          WrittenLayer& found) const {
  const auto [known, is_new] = found.names.emplace(of_form, name);
  if (!is_new) return known->second == name;
  const auto it = found.form->producers.find(of_form);
  if (it == found.form->producers.end()) return !name.empty();
  const Node& rule = found.form->graph.nodes[it->second];
  const auto producer = index_.producers.find(name);
  if (producer == index_.producers.end() || graph_.constants.contains(name)) return false;
  const Node& node = *producer->second;
  if (node.op != rule.op || !node.domain.empty() || node.outputs.size() != 1 ||
      node.inputs.size() != rule.inputs.size())
    return false;
  found.nodes[it->second] = &node;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (!match(node.inputs[i], rule.inputs[i], found)) return false;
  return true;
}

// But for what the layer gives.
bool WrittenLayers::is_read_elsewhere(const WrittenLayer& found) const {
  const std::set<const Node*> own(found.nodes.begin(), found.nodes.end());
  std::set<std::string> given;
  for (const GraphValue& output : found.form->graph.outputs)
    given.insert(found.names.at(output.name));
  for (const Node* node : found.nodes) {
    const auto readers = index_.readers.find(node->outputs[0]);
    if (given.contains(node->outputs[0]) || readers == index_.readers.end()) continue;
    for (const Node* reader : readers->second)
      if (!own.contains(reader)) return true;
  }
  return false;
}

namespace {

class WrittenImport {
 public:
  WrittenImport(ImportState& state, const Node& end, const WrittenLayer& found)
      : state_(state), end_(end), found_(found), form_(*found.form), layer_(form_.layer) {}

  bool run() {
    try {
      if (!read_inputs() || !read_properties() || !read_weights() || !has_sizes() ||
          !is_as_written())
        return false;
    } catch (const Unsupported&) {
      return false;
    } catch (const Error&) {  // no such layer can be
      return false;
    }
    make();
    return true;
  }

 private:
  const Tensor* constant(const std::string& part) const {
    const auto it = found_.names.find(name_of(part));
    const Value* value = it == found_.names.end() ? nullptr : state_.find(it->second);
    return value == nullptr ? nullptr : value->constant.get();
  }
  std::int64_t dim(const std::string& part, std::size_t axis) const {
    const Tensor* tensor = constant(part);
    return tensor != nullptr && axis < tensor->dims.size() ? tensor->dims[axis] : 0;
  }
  const Node& node_of(const std::string& value) const {
    return *found_.nodes[form_.producers.at(name_of(value))];
  }

  // Nothing of them is made yet: it may still be that this is no such layer.
  bool read_inputs() {
    inputs_ = form_.inputs;
    for (InputDescription& input : inputs_) {
      const Value* value = state_.find(found_.names.at(input.name));
      if (value == nullptr || value->constant || value->form == Form::kPending ||
          value->batch_axis != 0 || value->info.type != input.type)
        return false;
      const Ints dims = file_dims(*value);
      input.dims.assign(dims.begin() + 1, dims.end());
    }
    return true;
  }

  // Those that the nodes say; the form has the others.
  bool read_properties() {
    Properties& to = layer_.properties;
    if (layer_.type == "multi_head_attention") {
      const Tensor* split = constant("split");
      if (split == nullptr || split->ints.size() != 4) return false;
      to["heads"] = split->ints[2];
    } else if (layer_.type == "location_attention") {
      to["kernel"] = dim("conv_weight", 2);
      to["filters"] = dim("conv_weight", 0);
    } else if (layer_.type == "conv1d") {
      read_convolution(to);
    } else if (to.contains("scale")) {
      const Tensor* scale = constant("scale");
      if (scale == nullptr || scale->floats.size() != 1) return false;
      to["scale"] = shortest(scale->floats[0]);
    }
    return true;
  }

  void read_convolution(Properties& to) const {
    const Node& node = node_of("convolved");
    to["out_channels"] = dim("weight", 0);
    to["kernel"] = dim("weight", 2);
    const auto one = [&](const char* attribute, const char* property) {
      const Ints given = node.integers(attribute, {1});
      if (given.size() == 1 && given[0] != 1) to[property] = given[0];
    };
    one("strides", "stride");
    one("dilations", "dilation");
    const Ints pads = node.integers("pads");
    if (pads.size() == 2 && pads[0] == pads[1] && pads[0] != 0) to["padding"] = pads[0];
    if (pads.size() == 2 && pads[0] != pads[1]) to["padding"] = pads;
    if (const std::int64_t groups = node.integer("group", 1); groups != 1) to["groups"] = groups;
  }

  bool read_weights() {
    ModelDescription model;
    model.inputs = inputs_;
    model.layers = {layer_};
    model.outputs = {kName};
    const moil::Graph built = build_graph(model, 1);
    for (const WeightSpec& spec : built.nodes.at(0).weights) {
      const Tensor* tensor = constant(spec.name);
      const auto dims = spec.dims.values();
      if (tensor == nullptr || !tensor->is_float ||
          !std::equal(dims.begin(), dims.end(), tensor->dims.begin(), tensor->dims.end()))
        return false;
      weights_[spec.name] = {tensor->dims, tensor->floats};
    }
    return true;
  }

  // Before memory is taken for as many numbers as dims say.
  bool has_sizes() const {
    const Ints& first = inputs_[0].dims;
    if (layer_.type == "positional_encoding") {
      const Tensor* table = constant(kConstantSuffix + 1);
      return table != nullptr && table->dims == first;
    }
    const auto holds = [&](const char* part, std::int64_t size) {
      return !found_.names.contains(name_of(part)) || dim(part, 0) == size;
    };
    return layer_.type == "conv1d" ||
           (holds("keys",
                  inputs_[inputs_.size() > 1 && inputs_[1].dims.size() == 2 ? 1 : 0].dims[0]) &&
            holds("queries", first[0]));
  }

  // Written again, it has the same constants and attributes.
  bool is_as_written() const {
    WeightMap named;
    for (const auto& [name, weight] : weights_) named[name_of(name)] = weight;
    const Graph again = written(layer_, inputs_, std::move(named));
    if (again.nodes.size() != found_.nodes.size()) return false;
    for (std::size_t n = 0; n < again.nodes.size(); ++n)
      if (!has_attributes(*found_.nodes[n], again.nodes[n])) return false;
    return std::all_of(again.constants.begin(), again.constants.end(), [&](const auto& entry) {
      const Value* value = state_.find(found_.names.at(entry.first));
      return value != nullptr && value->constant && are_same(*value->constant, entry.second);
    });
  }

  static bool has_attributes(const Node& node, const Node& wish) {
    if (node.attributes.size() != wish.attributes.size()) return false;
    return std::all_of(wish.attributes.begin(), wish.attributes.end(), [&](const auto& entry) {
      const auto it = node.attributes.find(entry.first);
      if (it == node.attributes.end()) return false;
      if (const auto* list = std::get_if<Ints>(&entry.second)) {
        const auto* own = std::get_if<Ints>(&it->second);
        return own != nullptr && *own == *list;
      }
      const auto *one = std::get_if<std::int64_t>(&entry.second),
                 *own = std::get_if<std::int64_t>(&it->second);
      return one != nullptr && own != nullptr && *own == *one;
    });
  }

  // But for rounding: other tools have their own sines.
  static bool are_same(const Tensor& a, const Tensor& b) {
    constexpr float kRounding = 1e-5F;
    return a.is_float == b.is_float && a.dims == b.dims && a.ints == b.ints &&
           std::equal(a.floats.begin(), a.floats.end(), b.floats.begin(), b.floats.end(),
                      [](float x, float y) {
                        return std::abs(x - y) <= kRounding * std::max(1.0F, std::abs(y));
                      });
  }

  void make() {
    const std::size_t first = state_.description().layers.size();
    std::vector<Value> values;
    for (const InputDescription& input : inputs_) {
      Node reader = end_;
      reader.inputs = {found_.names.at(input.name)};
      values.push_back(state_.rows(reader, 0));
    }
    std::vector<const Value*> from;
    for (const Value& value : values) from.push_back(&value);
    std::map<std::string, NamedTensor> weights(weights_.begin(), weights_.end());
    Properties properties = layer_.properties;
    const Value made =
        state_.add_layer(end_, layer_.type, from, std::move(properties), std::move(weights),
                         end_.name.empty() ? end_.outputs[0] : end_.name);
    for (std::size_t slot = 1; slot < form_.graph.outputs.size(); ++slot) {
      const GraphValue& output = form_.graph.outputs[slot];
      const ::moil::Dims dims{values[1].info.dims[0], values[1].info.dims[1]};
      state_.set(found_.names.at(output.name), state_.further_output(made, slot, dims));
    }
    claim(first);
  }

  // Each weight for the node that reads it as the file has it.
  void claim(std::size_t first) {
    std::set<std::string> unclaimed;
    for (const auto& [name, weight] : weights_) unclaimed.insert(found_.names.at(name_of(name)));
    for (const Node* node : found_.nodes)
      for (std::size_t i = 0; i < node->inputs.size(); ++i)
        if (unclaimed.erase(node->inputs[i]) != 0) state_.claim_weight(*node, i, first);
  }

  ImportState& state_;
  const Node& end_;
  const WrittenLayer& found_;
  const WrittenForm& form_;
  LayerDescription layer_;
  std::vector<InputDescription> inputs_;
  std::map<std::string, NamedTensor> weights_;  // by their short names
};

}  // namespace

bool import_written(ImportState& state, const Node& end, const WrittenLayer& found) {
  return WrittenImport(state, end, found).run();
}

}  // namespace moil::onnx
