// Half of the fuzzer's changes keep the file a well-formed message, so that they reach beyond the
// parser: other operators, wires, attributes, shapes. The other half are libFuzzer's own.
#include <onnx/onnx_pb.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

namespace pb = ::onnx;

constexpr std::array<const char*, 49> kOperators = {"Add",
                                                    "AveragePool",
                                                    "BatchNormalization",
                                                    "Cast",
                                                    "Ceil",
                                                    "Clip",
                                                    "Concat",
                                                    "Constant",
                                                    "ConstantOfShape",
                                                    "Conv",
                                                    "Div",
                                                    "Dropout",
                                                    "Einsum",
                                                    "Equal",
                                                    "Expand",
                                                    "Flatten",
                                                    "Floor",
                                                    "Gather",
                                                    "Gelu",
                                                    "Gemm",
                                                    "GlobalAveragePool",
                                                    "HardSigmoid",
                                                    "HardSwish",
                                                    "Identity",
                                                    "LayerNormalization",
                                                    "LeakyRelu",
                                                    "MatMul",
                                                    "MaxPool",
                                                    "Mod",
                                                    "Mul",
                                                    "Neg",
                                                    "Pad",
                                                    "Pow",
                                                    "Range",
                                                    "ReduceMean",
                                                    "Relu",
                                                    "Reshape",
                                                    "ScatterND",
                                                    "Shape",
                                                    "Sigmoid",
                                                    "Slice",
                                                    "Softmax",
                                                    "Split",
                                                    "Sqrt",
                                                    "Squeeze",
                                                    "Sub",
                                                    "Tanh",
                                                    "Transpose",
                                                    "Unsqueeze"};

constexpr std::array<std::int64_t, 20> kNumbers = {
    0,  1,         -1,        2,         3,         4,        6,
    8,  16,        127,       256,       1 << 16,   1 << 24,  (1LL << 31) - 1,
    -2, 1LL << 31, 1LL << 40, 1LL << 62, INT64_MAX, INT64_MIN};

class Mutator {
 public:
  Mutator(pb::GraphProto& graph, unsigned seed) : graph_(graph), random_(seed) {}

  void change() {
    if (graph_.node_size() == 0) return;
    switch (below(9)) {
      case 0:
        node().set_op_type(kOperators[below(kOperators.size())]);
        break;
      case 1:
        rewire();
        break;
      case 2:
        change_attribute();
        break;
      case 3:
        change_number(*any_dims());
        break;
      case 4:
        repeat();
        break;
      case 5:
        drop();
        break;
      case 6:
        change_values();
        break;
      case 7:
        change_input();
        break;
      default:
        change_type();
        break;
    }
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  int some(int size) { return static_cast<int>(below(static_cast<std::size_t>(size))); }
  std::int64_t number() {
    return below(3) == 0 ? static_cast<std::int64_t>(below(12)) : kNumbers[below(kNumbers.size())];
  }
  pb::NodeProto& node() { return *graph_.mutable_node(some(graph_.node_size())); }

  // A name that something computes.
  std::string name() {
    if (graph_.initializer_size() > 0 && below(3) == 0)
      return graph_.initializer(some(graph_.initializer_size())).name();
    if (graph_.input_size() > 0 && below(4) == 0)
      return graph_.input(some(graph_.input_size())).name();
    const pb::NodeProto& from = node();
    return from.output_size() > 0 ? from.output(0) : "image";
  }

  void rewire() {
    pb::NodeProto& n = node();
    if (n.input_size() == 0 || below(5) == 0)
      n.add_input(name());
    else if (below(6) == 0)
      n.mutable_input()->RemoveLast();
    else
      n.set_input(some(n.input_size()), name());
  }

  void change_number(google::protobuf::RepeatedField<std::int64_t>& list) {
    if (list.empty() || below(6) == 0)
      list.Add(number());
    else if (below(6) == 0)
      list.RemoveLast();
    else
      list.Set(some(list.size()), number());
  }

  void change_attribute() {
    pb::NodeProto& n = node();
    if (n.attribute_size() == 0) return;
    pb::AttributeProto& a = *n.mutable_attribute(some(n.attribute_size()));
    if (a.type() == pb::AttributeProto::INTS) change_number(*a.mutable_ints());
    if (a.type() == pb::AttributeProto::INT) a.set_i(number());
    if (a.type() == pb::AttributeProto::FLOAT) a.set_f(static_cast<float>(number()));
    if (a.type() == pb::AttributeProto::TENSOR) change_number(*a.mutable_t()->mutable_dims());
  }

  google::protobuf::RepeatedField<std::int64_t>* any_dims() {
    if (graph_.initializer_size() == 0) graph_.add_initializer();
    return graph_.mutable_initializer(some(graph_.initializer_size()))->mutable_dims();
  }

  // A node once more, behind itself.
  void repeat() {
    pb::NodeProto copy = node();
    if (copy.input_size() == 0 || copy.output_size() == 0) return;
    const std::string before = copy.output(0), after = before + "'";
    for (pb::NodeProto& n : *graph_.mutable_node())
      for (std::string& input : *n.mutable_input())
        if (input == before) input = after;
    copy.set_input(0, before);
    copy.set_output(0, after);
    *graph_.add_node() = copy;
    for (pb::ValueInfoProto& o : *graph_.mutable_output())
      if (o.name() == before) o.set_name(after);
  }

  void drop() {
    const int i = some(graph_.node_size());
    const std::string gone = graph_.node(i).output_size() > 0 ? graph_.node(i).output(0) : "";
    const std::string instead = graph_.node(i).input_size() > 0 ? graph_.node(i).input(0) : "";
    graph_.mutable_node()->DeleteSubrange(i, 1);
    for (pb::NodeProto& n : *graph_.mutable_node())
      for (std::string& input : *n.mutable_input())
        if (input == gone) input = instead;
    for (pb::ValueInfoProto& o : *graph_.mutable_output())
      if (o.name() == gone) o.set_name(instead);
  }

  // Whole numbers are shapes, axes, pads: as a list that the fuzzer can see.
  void change_values() {
    if (graph_.initializer_size() == 0) return;
    pb::TensorProto& t = *graph_.mutable_initializer(some(graph_.initializer_size()));
    if (t.data_type() != pb::TensorProto::INT64) return;
    std::string& raw = *t.mutable_raw_data();
    if (raw.size() < sizeof(std::int64_t)) return;
    const std::int64_t value = number();
    raw.replace(below(raw.size() / sizeof value) * sizeof value, sizeof value,
                reinterpret_cast<const char*>(&value), sizeof value);
  }

  void change_input() {
    if (graph_.input_size() == 0) return;
    auto& shape = *graph_.mutable_input(some(graph_.input_size()))
                       ->mutable_type()
                       ->mutable_tensor_type()
                       ->mutable_shape();
    if (shape.dim_size() == 0 || below(8) == 0)
      shape.add_dim()->set_dim_value(number());
    else
      shape.mutable_dim(some(shape.dim_size()))->set_dim_value(number());
  }

  void change_type() {
    if (graph_.initializer_size() == 0) return;
    graph_.mutable_initializer(some(graph_.initializer_size()))
        ->set_data_type(static_cast<int>(below(18)));
  }

  pb::GraphProto& graph_;
  std::minstd_rand random_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  pb::ModelProto model;
  if (seed % 2 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, most);
  Mutator mutator(*model.mutable_graph(), seed);
  for (unsigned changes = 1 + seed / 2 % 3; changes > 0; --changes) mutator.change();
  if (model.ByteSizeLong() > most) return LLVMFuzzerMutate(data, size, most);
  model.SerializeToArray(data, static_cast<int>(most));
  return model.ByteSizeLong();
}
