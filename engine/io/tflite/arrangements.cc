// Reshapes, transposition, slices, and what is joined and cut.
#include <limits>

#include "engine/io/tflite/operators.h"

namespace moil::tflite {
namespace {

constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

void translate_reshape(Translator& t) {
  const std::string shape = t.has(1) ? t.input(1) : [&] {
    const auto* dims = t.options<file::ReshapeOptions>().shape();
    if (dims == nullptr) throw Untranslatable("it has no shape");
    return t.ints({dims->begin(), dims->end()});
  }();
  t.end("Reshape", {t.input(0), shape});
}

void translate_squeeze(Translator& t) {
  Ints axes;
  if (const auto* said = t.options<file::SqueezeOptions>().axes())
    axes = {said->begin(), said->end()};
  const Ints dims = t.input_dims(0);
  for (std::size_t k = 0; axes.empty() && k < dims.size(); ++k)
    if (dims[k] == 1) axes.push_back(static_cast<std::int64_t>(k));
  t.end("Squeeze", {t.input(0), t.ints(axes)});
}

void translate_expand_dims(Translator& t) {
  t.end("Unsqueeze", {t.input(0), t.ints(t.input_ints(1))});
}

void translate_transpose(Translator& t) {
  t.end("Transpose", {t.input(0)}, {{"perm", t.input_ints(1)}});
}

void translate_concatenation(Translator& t) {
  const auto& options = t.options<file::ConcatenationOptions>();
  std::vector<std::string> inputs;
  for (std::size_t k = 0; k < t.inputs(); ++k) inputs.push_back(t.input(k));
  t.end("Concat", inputs, {{"axis", std::int64_t{options.axis()}}}, options.activation());
}

void translate_pack(Translator& t) {
  const std::int64_t axis = t.options<file::PackOptions>().axis();
  std::vector<std::string> inputs;
  for (std::size_t k = 0; k < t.inputs(); ++k)
    inputs.push_back(t.add("Unsqueeze", {t.input(k), t.ints({axis})}));
  t.end("Concat", inputs, {{"axis", axis}});
}

void translate_slice(Translator& t) {
  const Ints begin = t.input_ints(1), size = t.input_ints(2);
  if (begin.size() != size.size()) throw Untranslatable("its sizes do not fit its beginnings");
  Ints end;
  for (std::size_t k = 0; k < begin.size(); ++k)
    end.push_back(size[k] < 0 || begin[k] > kToTheEnd - size[k] ? kToTheEnd : begin[k] + size[k]);
  t.end("Slice", {t.input(0), t.ints(begin), t.ints(end)});
}

// The number at this place of an input that may be computed.
std::string number_at(Translator& t, std::size_t input, std::size_t place) {
  return t.add("Gather", {t.input(input), t.ints({static_cast<std::int64_t>(place)})},
               {{"axis", std::int64_t{0}}});
}

// Begin, end and stride of each axis, one after the other.
void translate_strided_slice(Translator& t) {
  const auto& options = t.options<file::StridedSliceOptions>();
  if (options.ellipsis_mask() != 0 || options.new_axis_mask() != 0)
    throw Untranslatable("it makes axes");
  const Ints strides = t.input_ints(3);
  const std::size_t rank = t.input_dims(0).size();
  if (strides.size() > rank || rank > 31) throw Untranslatable("it slices axes that are not there");
  const auto is_set = [](int mask, std::size_t k) { return (mask >> k & 1) != 0; };
  std::string x = t.input(0);
  Ints gone;
  for (std::size_t k = 0; k < strides.size(); ++k) {
    const std::string axis = t.ints({static_cast<std::int64_t>(k)});
    if (is_set(options.shrink_axis_mask(), k)) {
      // With -1 for its beginning the end would be before it.
      const std::string place = number_at(t, 1, k);
      x = t.add("Gather", {x, place}, {{"axis", static_cast<std::int64_t>(k)}});
      gone.push_back(static_cast<std::int64_t>(k));
      continue;
    }
    const bool from_first = is_set(options.begin_mask(), k),
               to_last = is_set(options.end_mask(), k);
    if (strides[k] < 1) throw Untranslatable("it goes backwards");
    if (from_first && to_last && strides[k] == 1) continue;
    const std::string begin = from_first ? t.ints({0}) : number_at(t, 1, k);
    const std::string end = to_last ? t.ints({kToTheEnd}) : number_at(t, 2, k);
    x = t.add("Slice", {x, begin, end, axis, t.ints({strides[k]})});
  }
  if (gone.empty())
    t.end("Identity", {x});
  else
    t.end("Squeeze", {x, t.ints(gone)});
}

// Back to front along its axes.
void translate_reverse(Translator& t) {
  const Ints axes = t.input_ints(1);
  t.end("Slice", {t.input(0), t.ints(Ints(axes.size(), -1)), t.ints(Ints(axes.size(), -kToTheEnd)),
                  t.ints(axes), t.ints(Ints(axes.size(), -1))});
}

void cut(Translator& t, const std::string& x, std::int64_t axis,
         const std::vector<std::string>& ends) {
  const std::string on = t.ints({axis});
  for (std::size_t k = 0; k < t.outputs(); ++k)
    t.add("Slice", {x, ends[k], ends[k + 1], on}, {}, t.output(k));
}

// In parts of one size, or of those that the second input says.
template <bool has_sizes>
void translate_split(Translator& t) {
  const std::string& x = t.input(has_sizes ? 0 : 1);
  const Ints dims = t.input_dims(has_sizes ? 0 : 1);
  const Ints axis = t.input_ints(has_sizes ? 2 : 0);
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (axis.size() != 1 || axis[0] < -rank || axis[0] >= rank || t.outputs() == 0)
    throw Untranslatable("its axis is not there");
  const std::int64_t on = axis[0] < 0 ? axis[0] + rank : axis[0];
  const std::int64_t all = dims[static_cast<std::size_t>(on)];
  const auto parts = static_cast<std::int64_t>(t.outputs());
  Ints sizes(t.outputs(), all / parts);
  if (has_sizes) sizes = t.input_ints(1);
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) sum += std::clamp<std::int64_t>(size, 0, all);
  for (std::int64_t& size : sizes)
    if (size < 0) size = all - sum;
  if (sizes.size() != t.outputs()) throw Untranslatable("its sizes are not as many as its outputs");
  std::vector<std::string> ends = {t.ints({0})};
  std::int64_t end = 0;
  for (const std::int64_t size : sizes)
    ends.push_back(t.ints({end += std::clamp<std::int64_t>(size, 0, all)}));
  if (end != all) throw Untranslatable("its sizes do not fit its input");
  cut(t, x, on, ends);
}

void translate_unpack(Translator& t) {
  const std::int64_t axis = t.options<file::PackOptions>().axis();
  for (std::size_t k = 0; k < t.outputs(); ++k)
    t.add("Gather", {t.input(0), t.whole(static_cast<std::int64_t>(k))}, {{"axis", axis}},
          t.output(k));
}

void translate_gather(Translator& t) {
  const auto& options = t.options<file::GatherOptions>();
  if (options.batch_dims() != 0) throw Untranslatable("it gathers by the batch");
  t.end("Gather", {t.input(0), t.input(1)}, {{"axis", std::int64_t{options.axis()}}});
}

void translate_shape(Translator& t) { t.end("Shape", {t.input(0)}); }

void translate_range(Translator& t) { t.end("Range", {t.input(0), t.input(1), t.input(2)}); }

void translate_cast(Translator& t) {
  const auto to = t.options<file::CastOptions>().to();
  if (to == file::TensorType::COMPLEX64) throw Untranslatable("it makes complex numbers");
  const bool to_floats = to == file::TensorType::FLOAT32 || to == file::TensorType::FLOAT16;
  t.end("Cast", {t.input(0)}, {{"to", to_floats ? kOnnxFloats : kOnnxInts}});
}

void translate_broadcast(Translator& t) { t.end("Expand", {t.input(0), t.input(1)}); }

}  // namespace

void add_arrangements(OperatorKinds& kinds) {
  kinds.insert({{2, {"CONCATENATION", translate_concatenation}},
                {22, {"RESHAPE", translate_reshape}},
                {36, {"GATHER", translate_gather}},
                {39, {"TRANSPOSE", translate_transpose}},
                {43, {"SQUEEZE", translate_squeeze}},
                {45, {"STRIDED_SLICE", translate_strided_slice}},
                {49, {"SPLIT", translate_split<false>}},
                {53, {"CAST", translate_cast}},
                {65, {"SLICE", translate_slice}},
                {70, {"EXPAND_DIMS", translate_expand_dims}},
                {77, {"SHAPE", translate_shape}},
                {83, {"PACK", translate_pack}},
                {88, {"UNPACK", translate_unpack}},
                {96, {"RANGE", translate_range}},
                {102, {"SPLIT_V", translate_split<true>}},
                {105, {"REVERSE_V2", translate_reverse}},
                {130, {"BROADCAST_TO", translate_broadcast}}});
}

}  // namespace moil::tflite
