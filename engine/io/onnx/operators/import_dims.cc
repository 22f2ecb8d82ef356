// What a value's dims are to the file and to the engine, and how one becomes the other.
#include <algorithm>

#include "base/error.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

// Whether it turns the two axes of rows.
bool is_turn(const LayerDescription& layer) {
  if (layer.type != "permute") return false;
  return std::get<std::vector<std::int64_t>>(layer.properties.at("order")) ==
         std::vector<std::int64_t>{0, 2, 1};
}

// Whether it makes rows [N, C, L] of an image of one row or one column.
bool is_of_line(const LayerDescription& layer, const Value& source, std::int64_t channels) {
  const Dims& d = source.info.dims;
  return layer.type == "reshape" && source.is_image() && d[1] == channels &&
         (d[2] == 1 || d[3] == 1);
}

// Which of the new dims is the batch: the one with as many elements before it as before; -1 if
// none can be, which only a batch of one allows.
int batch_axis_in(const Value& x, const std::vector<std::int64_t>& dims) {
  const std::int64_t batch = x.info.dims[0];
  const std::vector<std::int64_t> old = file_dims(x);
  std::int64_t before = 1, passed = 1;
  for (int k = 0; k < x.batch_axis; ++k) before *= old[static_cast<std::size_t>(k)];
  int found = -1, any = -1;
  for (std::size_t k = 0; k < dims.size(); passed *= dims[k++]) {
    if (dims[k] != batch) continue;
    const int here = static_cast<int>(k);
    if (any < 0) any = here;
    if (x.batch_axis >= 0 && passed == before && (found < 0 || here == x.batch_axis)) found = here;
  }
  if (found >= 0) return found;
  if (batch != 1) throw Unsupported("it makes one axis of the batch and another");
  return any;
}

}  // namespace

std::vector<std::int64_t> file_dims(const Value& value) {
  const auto all = value.info.dims.values();
  if (value.is_line()) return {all[0], all[1], all[value.view == View::kOneRow ? 3 : 2]};
  if (value.view == View::kChannelsLast) return {all[0], all[2], all[3], all[1]};
  std::vector<std::int64_t> dims(all.begin() + 1, all.end());
  if (value.batch_axis >= 0) dims.insert(dims.begin() + value.batch_axis, all[0]);
  return dims;
}

std::size_t engine_axis(const Value& value, std::size_t file_axis) {
  if (static_cast<int>(file_axis) == value.batch_axis)
    throw Unsupported("it works along the batch; samples must not know each other");
  if (value.view == View::kOneRow && file_axis == 2) return 3;
  if (value.view == View::kChannelsLast) return file_axis == 3 ? 1 : file_axis + 1;
  const bool behind = value.batch_axis < 0 || static_cast<int>(file_axis) < value.batch_axis;
  return behind ? file_axis + 1 : file_axis;
}

// Gives what has no layer yet its layer.
void ImportState::finish(const std::string& name, const Value& value) {
  Node node = *value.node;
  node.outputs = {name};
  Value x = value;
  x.padding = {};
  x.form = Form::kPlain;
  if (value.form == Form::kNormalised) return finish_norm(node, x);
  if (value.form == Form::kFrames) return finish_frames(*this, node, x);
  const auto& p = value.padding;
  const Dims& d = value.info.dims;
  x.info.dims = Dims{d[0], d[1], d[2] - p[0] - p[2], d[3] - p[1] - p[3]};
  add_layer(node, "pad", {&x},
            {{"begin", std::vector<std::int64_t>{0, p[0], p[1]}},
             {"end", std::vector<std::int64_t>{0, p[2], p[3]}}});
}

// Rows that are scaled but not shifted are two layers.
void ImportState::finish_norm(Node node, const Value& x) {
  if (x.gamma) {
    Node scale = *x.gamma_node;
    scale.outputs = node.outputs;
    node.outputs = x.node->outputs;
    if (values_.at(node.outputs[0]).form == Form::kNormalised) {
      Value bare = x;
      bare.gamma = nullptr;
      finish_norm(node, bare);
    }
    const Value rows = values_.at(node.outputs[0]);
    const std::vector<std::int64_t> dims = {x.info.dims.back()};
    add_layer(scale, "multiply_parameter", {&rows}, {{"dims", dims}},
              {{"weight", {dims, x.gamma->floats}}}, parameter_of(x.gamma_source));
    return;
  }
  add_layer(node, "layer_norm", {&x}, {{"affine", false}, {"epsilon", x.epsilon}});
}

Value ImportState::as_image(const Value& value) {
  if (value.is_image() && value.batch_axis == 0) return value;
  const std::vector<std::int64_t> dims = file_dims(value);
  const bool first = value.batch_axis == 0 || value.info.dims[0] == 1;
  if (dims.size() != 4 || dims[0] != value.info.dims[0] || !first)
    throw Unsupported("it takes images [N, C, H, W], not " + Dims(dims).to_string());
  Value image = helper(value.layer + ".image", "reshape", value,
                       {{"dims", std::vector<std::int64_t>(dims.begin() + 1, dims.end())}});
  image.batch_axis = 0;
  return image;
}

// Rows that were made of a line, or are those of pixels in another order, cost nothing.
Value ImportState::as_line(const Value& value) {
  const std::vector<std::int64_t> dims = file_dims(value);
  if (dims.size() != 3 || value.batch_axis != 0)
    throw Unsupported("it takes images [N, C, H, W] or lines [N, C, L], not " +
                      Dims(dims).to_string());
  const LayerDescription* layer = layer_of(value);
  const Value* source = layer == nullptr ? nullptr : value_of(layer->inputs[0]);
  Value line;
  if (source != nullptr && is_of_line(*layer, *source, dims[1])) {
    line = *source;
    line.view = source->info.dims[2] == 1 ? View::kOneRow : View::kOneColumn;
  } else if (source != nullptr && is_turn(*layer) && source->info.dims.rank() == 3) {
    const Value pixels = helper(source->layer + ".pixels", "reshape", *source,
                                {{"dims", std::vector<std::int64_t>{dims[2], 1, dims[1]}},
                                 {"layout", std::string("plain")}});
    line = helper(source->layer + ".line", "permute", pixels,
                  {{"order", std::vector<std::int64_t>{0, 3, 2, 1}},
                   {"layout", std::string("channels_last")}});
    line.view = View::kOneRow;
  } else {
    const Value rows = helper(value.layer + ".row", "reshape", value,
                              {{"dims", std::vector<std::int64_t>{dims[1], 1, dims[2]}},
                               {"layout", std::string("plain")}});
    line = as_image(rows);
    line.view = View::kOneRow;
  }
  line.batch_axis = 0;
  return line;
}

bool ImportState::is_line_at_no_cost(const Value& value) {
  const LayerDescription* layer = layer_of(value);
  const Value* source = layer == nullptr ? nullptr : value_of(layer->inputs[0]);
  if (source == nullptr || value.info.dims.rank() != 3) return false;
  return is_of_line(*layer, *source, value.info.dims[1]) ||
         (is_turn(*layer) && source->info.dims.rank() == 3);
}

Value ImportState::as_rows(const Value& value) {
  if (!value.is_image()) return value;
  const auto dims = value.info.dims.values();
  if (value.is_line()) {
    const std::vector<std::int64_t> own = file_dims(value);
    return helper(value.layer + ".sequence", "reshape", value,
                  {{"dims", std::vector<std::int64_t>{own[1], own[2]}}});
  }
  if (value.view == View::kChannelsLast) {
    const bool is_free = helpers_.contains(value.turned) || !names_.contains(value.turned);
    return helper(
        !value.turned.empty() && is_free ? value.turned : value.layer + ".channels_last", "permute",
        value,
        {{"order", std::vector<std::int64_t>{0, 2, 3, 1}}, {"layout", std::string("plain")}});
  }
  Value rows = helper(value.layer + ".rows", "reshape", value,
                      {{"dims", std::vector<std::int64_t>(dims.begin() + 1, dims.end())},
                       {"layout", std::string("plain")}});
  rows.batch_axis = value.batch_axis;  // where this name of the layer has it
  return rows;
}

void ImportState::set_dims(const Node& node, const Value& x,
                           const std::vector<std::int64_t>& dims) {
  set_dims(node, x, dims, batch_axis_in(x, dims));
}

// What a reshape made x of, in row-major order; null if none did.
const Value* ImportState::reshaped(const Value& x) {
  const LayerDescription* layer = layer_of(x);
  if (layer == nullptr || layer->type != "reshape" || x.is_image()) return nullptr;
  const Value* before = value_of(layer->inputs[0]);
  return before == nullptr || before->is_image() ? nullptr : before;
}

void ImportState::set_dims(const Node& node, const Value& x, const std::vector<std::int64_t>& dims,
                           int batch_axis) {
  std::vector<std::int64_t> sample = dims;
  if (batch_axis >= 0) sample.erase(sample.begin() + batch_axis);
  if (sample.empty()) sample = {1};
  const auto fits = [&](const Value& value) {
    const auto old = value.info.dims.values();
    return std::equal(sample.begin(), sample.end(), old.begin() + 1, old.end());
  };
  Value result = x;
  if (x.form == Form::kFrames) {
    std::vector<std::int64_t> own = sample;
    own.insert(own.begin(), x.info.dims[0]);
    result.info.dims = Dims(own);
  } else if (const Value* before = reshaped(x); before != nullptr && !fits(x) && fits(*before)) {
    result = *before;
  } else if (!fits(x)) {
    const bool vector = sample.size() == 1;
    Properties properties;
    if (!vector) properties["dims"] = sample;
    if (sample.size() == 3) properties["layout"] = std::string("plain");
    result = add_layer(node, vector ? "flatten" : "reshape", {&x}, std::move(properties));
  }
  result.batch_axis = batch_axis;
  alias(node, result);
}

}  // namespace moil::onnx
