// What the nodes of an ONNX graph are written into a TensorFlow Lite file with.
//
// A value is a tensor of the file, whose axes may stand in another order than the graph's: images
// have their channels last there. So a Transpose is free until somebody asks for an order that the
// tensor does not have. The file is of one sample; what computes by the sample goes on to do so if
// a runtime is asked for more. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/onnx/graph_index.h"
#include "engine/io/onnx/onnx_graph.h"
#include "engine/io/tflite/export/file_maker.h"

namespace moil::tflite {

// Why a node cannot be written.
class Unwritable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Value {
  Ints dims;        // as the graph has them
  Ints order = {};  // for each axis of the tensor, which of `dims` it is
  int tensor = -1;  // none of a constant before it is asked for
  file::TensorType type = file::TensorType::FLOAT32;
  const onnx::Tensor* constant = nullptr;
  std::string name = {};  // a constant's

  [[nodiscard]] std::size_t rank() const { return dims.size(); }
  // Where the axis stands in the tensor.
  [[nodiscard]] std::int64_t place_of(std::int64_t axis) const;
  [[nodiscard]] bool is_number() const;  // a constant of one
};

[[nodiscard]] Ints plain_order(std::size_t rank);
// Channels last, of [N, C, H, W] or [N, C, L].
[[nodiscard]] Ints image_order(std::size_t rank);
// One for all of them, which may be broadcast: an image's if one is an image; and plain for rows,
// if one of them lies so.
[[nodiscard]] Ints common_order(const std::vector<Value>& values);
[[nodiscard]] std::int64_t elements_of(const Ints& dims);

class GraphWriter {
 public:
  explicit GraphWriter(onnx::Graph graph);

  // All nodes, and the file's bytes. Throws kUnimplemented with every node that cannot be written,
  // kResourceExhausted.
  std::string write();

  // Of the node that is being written.
  [[nodiscard]] const onnx::Node& node() const { return *node_; }
  [[nodiscard]] std::size_t inputs() const { return node_->inputs.size(); }
  [[nodiscard]] bool has(std::size_t k) const;
  [[nodiscard]] Value input(std::size_t k);
  // Constants of whole numbers, and of floats. Throw Unwritable for computed ones.
  [[nodiscard]] Ints input_ints(std::size_t k);
  [[nodiscard]] const onnx::Tensor& input_constant(std::size_t k);
  // An axis as ONNX counts it, also from the end.
  [[nodiscard]] std::size_t axis_of(std::int64_t axis, std::size_t rank) const;

  // The tensor that has the value's axes in this order.
  int in_order(const Value& value, const Ints& order);
  int plain(const Value& value) { return in_order(value, plain_order(value.rank())); }
  // The same of dims that have as many elements in the same order.
  Value reshaped(const Value& value, const Ints& dims);

  // Constants. of(): one that the graph does not have.
  int ints(const Ints& values, std::optional<Ints> dims = {});
  Value number(float value);
  Value of(const std::string& short_name, onnx::Tensor tensor);

  // An operator of one output; the dims and the order of the result are the tensor's own.
  int add(const OperatorCode& code, const std::vector<int>& inputs, const Ints& tensor_dims,
          Options options = {}, file::TensorType type = file::TensorType::FLOAT32);
  // The same of a result that has the value's dims and order.
  Value add_like(const OperatorCode& code, const Value& value, Options options = {});
  [[nodiscard]] Ints tensor_dims(int tensor) const { return file_.dims_of(tensor); }
  flatbuffers::FlatBufferBuilder& builder() { return file_.builder(); }
  template <class T>
  static Options options(flatbuffers::Offset<T> table) {
    return {table.o};
  }
  Options no_options() { return file::CreateUnread(builder()); }

  // A node that does nothing but what the operator can do besides, and that nobody else reads: it
  // counts as written. The number of a fused activation (tflite.fbs), 0 if there is none.
  int take_activation();
  // A constant that is added, of `count` numbers along the last axis; null if there is none.
  const onnx::Tensor* take_bias(std::int64_t count, std::string& name);
  // The end of the node, or of the last one that was taken.
  void end(Value value);

 private:
  const onnx::Node* only_reader() const;
  [[nodiscard]] bool is_reached(const onnx::Node& node) const;
  void write_node(const onnx::Node& node);
  bool fold_node(const onnx::Node& node);
  void take(const onnx::Node& node);
  int tensor_of(const Value& constant, const Ints& order);
  int finished(const onnx::GraphValue& output, const std::set<int>& others);
  int add_input(const onnx::GraphValue& input);

  onnx::Graph graph_;  // with the constants that come to it: folded ones, and those of of()
  const onnx::GraphIndex index_;
  FileMaker file_;
  std::map<std::string, onnx::Tensor>& constants_ = graph_.constants;
  std::map<std::string, Value> values_;
  std::map<std::pair<std::string, Ints>, int> written_;  // constants by name and order
  std::map<std::pair<Ints, Ints>, int> ints_;            // by dims and values
  std::map<std::pair<int, Ints>, int> turned_;           // tensors by what was turned
  std::set<const onnx::Node*> taken_;
  std::set<int> unnamed_;  // tensors that have no name of the graph
  const onnx::Node* node_ = nullptr;
  std::string end_;  // the name of the value that end() sets
};

using NodeWriters = std::map<std::string, void (*)(GraphWriter&), std::less<>>;

void add_window_writers(NodeWriters& writers);       // convolutions, pools, other sizes
void add_arithmetic_writers(NodeWriters& writers);   // products, sums, activations, means
void add_arrangement_writers(NodeWriters& writers);  // reshapes, slices, what is joined

// An operator of two operands that are broadcast to each other, and an activation fused behind it.
[[nodiscard]] Value binary(GraphWriter& w, const OperatorCode& code, const Value& a, const Value& b,
                           int activation = 0);

}  // namespace moil::tflite
