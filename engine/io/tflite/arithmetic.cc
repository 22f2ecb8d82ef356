// Products, sums, activations, and means over axes.
#include "engine/io/tflite/operators.h"

namespace moil::tflite {
namespace {

constexpr std::size_t kMostRank = 8;

template <const char* op>
void translate_plain(Translator& t) {
  std::vector<std::string> inputs;
  for (std::size_t k = 0; k < t.inputs(); ++k) inputs.push_back(t.input(k));
  t.end(op, inputs);
}

// With an activation behind it.
template <const char* op>
void translate_sum(Translator& t) {
  t.end(op, {t.input(0), t.input(1)}, {}, t.options<file::ArithmeticOptions>().activation());
}

constexpr char kAdd[] = "Add", kSub[] = "Sub", kDiv[] = "Div", kMax[] = "Max", kMin[] = "Min",
               kPow[] = "Pow", kSum[] = "Sum", kSigmoid[] = "Sigmoid", kTanh[] = "Tanh",
               kRelu[] = "Relu", kHardSwish[] = "HardSwish", kNeg[] = "Neg", kSqrt[] = "Sqrt",
               kExp[] = "Exp", kLog[] = "Log", kAbs[] = "Abs", kFloor[] = "Floor", kCeil[] = "Ceil",
               kIdentity[] = "Identity", kElu[] = "Elu", kLogSoftmax[] = "LogSoftmax",
               kReduceSum[] = "ReduceSum", kReduceMean[] = "ReduceMean", kReduceMax[] = "ReduceMax",
               kReduceMin[] = "ReduceMin", kReduceProd[] = "ReduceProd";

void translate_floor_division(Translator& t) {
  if (t.is_whole_number(0)) {  // of sizes, which are not below zero
    t.end("Div", {t.input(0), t.input(1)});
    return;
  }
  t.end("Floor", {t.add("Div", {t.input(0), t.input(1)})});
}

void translate_square(Translator& t) { t.end("Mul", {t.input(0), t.input(0)}); }

void translate_squared_difference(Translator& t) {
  const std::string difference = t.add("Sub", {t.input(0), t.input(1)});
  t.end("Mul", {difference, difference});
}

// Kept by its root, so that a product with it is a division, as a norm has it.
void translate_rsqrt(Translator& t) {
  const std::string root = t.add("Sqrt", {t.input(0)});
  t.remember_root(t.output(), root);
  t.end("Reciprocal", {root});
}

void translate_product(Translator& t) {
  const int activation = t.options<file::ArithmeticOptions>().activation();
  for (const std::size_t k : {0U, 1U})
    if (const std::string root = t.root_of(t.input(k)); !root.empty())
      return t.end("Div", {t.input(1 - k), root}, {}, activation);
  t.end("Mul", {t.input(0), t.input(1)}, {}, activation);
}

template <int activation>
void translate_limit(Translator& t) {
  t.activate(t.input(0), activation);
}

void translate_leaky_relu(Translator& t) {
  t.end("LeakyRelu", {t.input(0)},
        {{"alpha", double{t.options<file::LeakyReluOptions>().alpha()}}});
}

void translate_prelu(Translator& t) {
  if (t.input_dims(0).size() != 4) {
    t.end("PRelu", {t.input(0), t.input(1)});
    return;
  }
  const std::string slopes = t.add("Reshape", {t.input(1), t.ints({-1, 1, 1})});
  t.end_in_last(t.add("PRelu", {t.to_channels(t.input(0)), slopes}));
}

void translate_gelu(Translator& t) {
  const bool approximate = t.options<file::GeluOptions>().approximate();
  t.end("Gelu", {t.input(0)}, {{"approximate", std::string(approximate ? "tanh" : "none")}});
}

void translate_softmax(Translator& t) {
  const float beta = t.options<file::SoftmaxOptions>().beta();
  std::string x = t.input(0);
  if (beta != 1) x = t.add("Mul", {x, t.number(beta)});
  t.end("Softmax", {x}, {{"axis", std::int64_t{-1}}});
}

void translate_fully_connected(Translator& t) {
  const auto& options = t.options<file::FullyConnectedOptions>();
  if (options.format() != 0) throw Untranslatable("its weights are in an order of some processor");
  const Ints weights = t.input_dims(1);
  if (weights.size() != 2) throw Untranslatable("its weights are no matrix");
  std::string x = t.input(0);
  const std::size_t rank = t.input_dims(0).size();
  if (options.keeps_dims() && rank != 2) {
    const std::string matrix = t.add("Transpose", {t.input(1)}, {{"perm", Ints{1, 0}}});
    if (!t.has(2)) return t.end("MatMul", {x, matrix}, {}, options.activation());
    return t.end("Add", {t.add("MatMul", {x, matrix}), t.input(2)}, {}, options.activation());
  }
  if (rank != 2) x = t.add("Reshape", {x, t.ints({-1, weights[1]})});
  std::vector<std::string> inputs = {x, t.input(1)};
  if (t.has(2)) inputs.push_back(t.input(2));
  t.end("Gemm", inputs, {{"transB", std::int64_t{1}}}, options.activation());
}

std::string turned(Translator& t, std::size_t k, bool is_turned) {
  if (!is_turned) return t.input(k);
  const std::size_t rank = t.input_dims(k).size();
  if (rank < 2 || rank > kMostRank) throw Untranslatable("its inputs are no matrices");
  Ints order;
  for (std::size_t axis = 0; axis < rank; ++axis) order.push_back(static_cast<std::int64_t>(axis));
  std::swap(order[rank - 1], order[rank - 2]);
  return t.add("Transpose", {t.input(k)}, {{"perm", order}});
}

void translate_batch_matmul(Translator& t) {
  const auto& options = t.options<file::BatchMatMulOptions>();
  t.end("MatMul",
        {turned(t, 0, options.transposes_left()), turned(t, 1, options.transposes_right())});
}

// Over axes of its second input.
template <const char* op>
void translate_reduction(Translator& t) {
  const Ints axes = t.input_ints(1);
  const std::int64_t keeps = t.options<file::ReducerOptions>().keeps_dims() ? 1 : 0;
  if (op == kReduceSum) {
    t.end(op, {t.input(0), t.ints(axes)}, {{"keepdims", keeps}});
    return;
  }
  t.end(op, {t.input(0)}, {{"axes", axes}, {"keepdims", keeps}});
}

}  // namespace

void add_arithmetic(OperatorKinds& kinds) {
  kinds.insert({{0, {"ADD", translate_sum<kAdd>}},
                {6, {"DEQUANTIZE", translate_plain<kIdentity>}},
                {8, {"FLOOR", translate_plain<kFloor>}},
                {9, {"FULLY_CONNECTED", translate_fully_connected}},
                {14, {"LOGISTIC", translate_plain<kSigmoid>}},
                {18, {"MUL", translate_product}},
                {19, {"RELU", translate_plain<kRelu>}},
                {20, {"RELU_N1_TO_1", translate_limit<2>}},
                {21, {"RELU6", translate_limit<3>}},
                {25, {"SOFTMAX", translate_softmax}},
                {28, {"TANH", translate_plain<kTanh>}},
                {40, {"MEAN", translate_reduction<kReduceMean>}},
                {41, {"SUB", translate_sum<kSub>}},
                {42, {"DIV", translate_sum<kDiv>}},
                {47, {"EXP", translate_plain<kExp>}},
                {50, {"LOG_SOFTMAX", translate_plain<kLogSoftmax>}},
                {54, {"PRELU", translate_prelu}},
                {55, {"MAXIMUM", translate_plain<kMax>}},
                {57, {"MINIMUM", translate_plain<kMin>}},
                {59, {"NEG", translate_plain<kNeg>}},
                {73, {"LOG", translate_plain<kLog>}},
                {74, {"SUM", translate_reduction<kReduceSum>}},
                {75, {"SQRT", translate_plain<kSqrt>}},
                {76, {"RSQRT", translate_rsqrt}},
                {78, {"POW", translate_plain<kPow>}},
                {81, {"REDUCE_PROD", translate_reduction<kReduceProd>}},
                {82, {"REDUCE_MAX", translate_reduction<kReduceMax>}},
                {89, {"REDUCE_MIN", translate_reduction<kReduceMin>}},
                {90, {"FLOOR_DIV", translate_floor_division}},
                {92, {"SQUARE", translate_square}},
                {98, {"LEAKY_RELU", translate_leaky_relu}},
                {99, {"SQUARED_DIFFERENCE", translate_squared_difference}},
                {101, {"ABS", translate_plain<kAbs>}},
                {104, {"CEIL", translate_plain<kCeil>}},
                {106, {"ADD_N", translate_plain<kSum>}},
                {111, {"ELU", translate_plain<kElu>}},
                {114, {"QUANTIZE", translate_plain<kIdentity>}},
                {117, {"HARD_SWISH", translate_plain<kHardSwish>}},
                {126, {"BATCH_MATMUL", translate_batch_matmul}},
                {150, {"GELU", translate_gelu}}});
}

}  // namespace moil::tflite
