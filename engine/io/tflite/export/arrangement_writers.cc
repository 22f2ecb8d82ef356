// Reshapes, turning, slices, and what is joined.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/tflite/export/graph_writer.h"
#include "engine/io/tflite/export/operator_codes.h"

namespace moil::tflite {
namespace {

using file::TensorType;

void write_nothing(GraphWriter& w) { w.end(w.input(0)); }

void write_reshape(GraphWriter& w) {
  const Value x = w.input(0);
  w.end(w.reshaped(x, onnx::reshaped(w.node(), x.dims, w.input_ints(1))));
}

void write_flatten(GraphWriter& w) {
  const Value x = w.input(0);
  const std::size_t axis = w.axis_of(w.node().integer("axis", 1), x.rank());
  const Ints before = {x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis)},
             behind = {x.dims.begin() + static_cast<std::ptrdiff_t>(axis), x.dims.end()};
  w.end(w.reshaped(x, {elements_of(before), elements_of(behind)}));
}

void write_squeeze(GraphWriter& w) {
  const Value x = w.input(0);
  std::set<std::size_t> gone;
  for (const std::int64_t axis : w.input_ints(1)) gone.insert(w.axis_of(axis, x.rank()));
  Ints dims;
  for (std::size_t k = 0; k < x.rank(); ++k)
    if (!gone.contains(k)) dims.push_back(x.dims[k]);
  w.end(w.reshaped(x, dims));
}

void write_unsqueeze(GraphWriter& w) {
  const Value x = w.input(0);
  const Ints axes = w.input_ints(1);
  std::set<std::size_t> made;
  for (const std::int64_t axis : axes) made.insert(w.axis_of(axis, x.rank() + axes.size()));
  Ints dims = x.dims;
  for (const std::size_t axis : made)
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  w.end(w.reshaped(x, dims));
}

void write_transpose(GraphWriter& w) {
  const Value x = w.input(0);
  const Ints perm = w.node().integers("perm");
  if (perm.size() != x.rank()) throw Unwritable("it does not say an order of its axes");
  Value y = x;
  for (std::size_t k = 0; k < perm.size(); ++k) {
    y.dims[k] = x.dims[static_cast<std::size_t>(perm[k])];
    y.order[static_cast<std::size_t>(x.place_of(perm[k]))] = static_cast<std::int64_t>(k);
  }
  w.end(y);
}

void write_concat(GraphWriter& w) {
  std::vector<Value> values;
  for (std::size_t k = 0; k < w.inputs(); ++k) values.push_back(w.input(k));
  Value y{values[0].dims, common_order(values)};
  y.type = values[0].type;
  const std::size_t axis = w.axis_of(w.node().integer("axis", 0), y.rank());
  y.dims[axis] = 0;
  std::vector<int> parts;
  for (const Value& part : values) {
    parts.push_back(w.in_order(part, y.order));
    y.dims[axis] += part.dims[axis];
  }
  const auto place = static_cast<int>(y.place_of(static_cast<std::int64_t>(axis)));
  Ints dims = w.tensor_dims(parts[0]);
  dims[static_cast<std::size_t>(place)] = y.dims[axis];
  y.tensor =
      w.add(ops::kConcatenation, parts, dims,
            GraphWriter::options(file::CreateConcatenationOptions(w.builder(), place)), y.type);
  w.end(y);
}

// Begin, end and stride of each axis of the tensor; those that are not sliced are left open. The
// format's readers know no steps backwards: what was sliced is turned around.
struct Cut {
  Ints dims, begin, end, stride, backwards;
  int open = 0;

  explicit Cut(Ints tensor_dims)
      : dims(std::move(tensor_dims)),
        begin(dims.size(), 0),
        end(dims),
        stride(dims.size(), 1),
        open((1 << dims.size()) - 1) {}

  // As ONNX says it.
  void slice(std::size_t place, std::int64_t first, std::int64_t behind, std::int64_t step) {
    const std::int64_t all = dims[place];
    if (step == 0) throw Unwritable("its step is 0");
    const std::int64_t least = step > 0 ? 0 : -1, most = step > 0 ? all : all - 1;
    first = std::clamp(first < 0 ? first + all : first, std::int64_t{0}, most);
    behind = std::clamp(behind < 0 ? behind + all : behind, least, most);
    const std::int64_t size = std::abs(step), room = step > 0 ? behind - first : first - behind;
    if (room < 1) throw Unwritable("nothing is left of it");
    dims[place] = (room - 1) / size + 1;
    begin[place] = step > 0 ? first : first - (dims[place] - 1) * size;
    end[place] = step > 0 ? behind : first + 1;
    stride[place] = size;
    open &= ~(1 << place);
    if (step < 0) backwards.push_back(static_cast<std::int64_t>(place));
  }
};

void write_slice(GraphWriter& w) {
  const Value x = w.input(0);
  const Ints starts = w.input_ints(1), ends = w.input_ints(2),
             axes = w.has(3) ? w.input_ints(3) : plain_order(starts.size()),
             steps = w.has(4) ? w.input_ints(4) : Ints(starts.size(), 1);
  const int from = w.in_order(x, x.order);
  Cut cut(w.tensor_dims(from));
  Value y{x.dims, x.order};
  y.type = x.type;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::size_t axis = w.axis_of(axes[k], x.rank());
    const auto place = static_cast<std::size_t>(x.place_of(static_cast<std::int64_t>(axis)));
    cut.slice(place, starts[k], ends[k], steps[k]);
    y.dims[axis] = cut.dims[place];
  }
  y.tensor = w.add(
      ops::kStridedSlice, {from, w.ints(cut.begin), w.ints(cut.end), w.ints(cut.stride)}, cut.dims,
      GraphWriter::options(file::CreateStridedSliceOptions(w.builder(), cut.open, cut.open)),
      x.type);
  if (!cut.backwards.empty())
    y.tensor =
        w.add(ops::kReverse, {y.tensor, w.ints(cut.backwards)}, cut.dims, w.no_options(), x.type);
  w.end(y);
}

void write_padding(GraphWriter& w) {
  const Value x = w.input(0);
  const Ints pads = w.input_ints(1);
  const float value = w.has(2) ? w.input_constant(2).floats.at(0) : 0;
  if (w.node().word("mode", "constant") != "constant" || pads.size() != 2 * x.rank())
    throw Unwritable("its padding is not of one number");
  constexpr std::size_t kMostAxes = 5;  // that LiteRT pads
  if (x.rank() > kMostAxes) throw Unwritable("it has six axes");
  const int from = w.in_order(x, x.order);
  Ints dims = w.tensor_dims(from), sides;
  Value y = x;
  for (std::size_t place = 0; place < x.rank(); ++place) {
    const auto axis = static_cast<std::size_t>(x.order[place]);
    const std::int64_t before = pads[axis], behind = pads[x.rank() + axis];
    if (before < 0 || behind < 0) throw Unwritable("its padding takes away");
    sides.insert(sides.end(), {before, behind});
    dims[place] = y.dims[axis] = x.dims[axis] + before + behind;
  }
  std::vector<int> inputs = {from, w.ints(sides, Ints{static_cast<std::int64_t>(x.rank()), 2})};
  if (value != 0) inputs.push_back(w.plain(w.number(value)));
  y.tensor = w.add(value == 0 ? ops::kPad : ops::kPadValue, inputs, dims, w.no_options());
  w.end(y);
}

// Rows of a table, or what stands at one place of an axis.
void write_gather(GraphWriter& w) {
  const Value table = w.input(0), ids = w.input(1);
  const auto axis = static_cast<std::int64_t>(w.axis_of(w.node().integer("axis", 0), table.rank()));
  Ints dims = table.dims;
  const auto at = dims.begin() + axis;
  dims.insert(dims.erase(at), ids.dims.begin(), ids.dims.end());
  const int result =
      w.add(ops::kGather, {w.plain(table), w.plain(ids)}, dims,
            GraphWriter::options(file::CreateGatherOptions(w.builder(), static_cast<int>(axis))),
            table.type);
  w.end({dims, plain_order(dims.size()), result, table.type});
}

void write_cast(GraphWriter& w) {
  constexpr std::int64_t kOnnxInts[] = {6, 7};
  const Value x = w.input(0);
  const std::int64_t to = w.node().integer("to", 1);
  const bool is_whole = std::count(std::begin(kOnnxInts), std::end(kOnnxInts), to) > 0;
  if (is_whole != (x.type == TensorType::INT32)) throw Unwritable("it changes a value's type");
  w.end(x);
}

}  // namespace

void add_arrangement_writers(NodeWriters& writers) {
  writers.insert({{"Cast", write_cast},
                  {"Concat", write_concat},
                  {"Dropout", write_nothing},
                  {"Flatten", write_flatten},
                  {"Gather", write_gather},
                  {"Identity", write_nothing},
                  {"Pad", write_padding},
                  {"Reshape", write_reshape},
                  {"Slice", write_slice},
                  {"Squeeze", write_squeeze},
                  {"Transpose", write_transpose},
                  {"Unsqueeze", write_unsqueeze}});
}

}  // namespace moil::tflite
