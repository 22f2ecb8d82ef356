// What is known while a graph is imported: the values that nodes gave so far, and the layers and
// weights made of them. Operators (operators.h) read and write it through this interface.
// One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/graph/model_description.h"
#include "engine/io/onnx/onnx_graph.h"
#include "engine/tensor/spec.h"

namespace moil::onnx {

// What a value is of another, where a node further on may make one layer of both.
enum class Form {
  kPlain,
  kPlusThree,     // x + 3
  kClipped,       // min(max(x + 3, 0), 6)
  kTimesClipped,  // x times that
  kHardSigmoid,   // that / 6
  kSigmoid,
};

// One tensor of the file: known, or computed by a layer.
struct Value {
  std::shared_ptr<const Tensor> constant;
  std::string layer;  // the value's name in the description
  TensorInfo info;
  std::array<std::int64_t, 4> padding = {};  // zeros around it that no layer has made yet
  Form form = Form::kPlain;
  std::string of;       // form's x: a value's name in the description
  bool shared = false;  // read under another name, too

  bool is_padded() const { return padding != std::array<std::int64_t, 4>{}; }
};

// Why a node cannot be imported; the import goes on, to tell of all such nodes.
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ImportState {
 public:
  explicit ImportState(const Graph& graph);

  // Values by their name in the file.
  const Value* find(const std::string& name) const;
  void set(const std::string& name, Value value);

  // A node's inputs. Throws Unsupported where it is not there, not constant or not computed; data()
  // also where padding before this node has no layer to go into.
  const Tensor& constant(const Node& node, std::size_t input) const;
  const Tensor* optional_constant(const Node& node, std::size_t input) const;
  const Value& data(const Node& node, std::size_t input) const;
  const Value& padded_data(const Node& node, std::size_t input) const;
  bool has(const Node& node, std::size_t input) const;
  bool is_constant(const Node& node, std::size_t input) const;

  // Makes a layer and gives its output to the node's; weights: by their short names. The layer
  // itself judges shapes and properties: Unsupported with what it says.
  Value& add_layer(const Node& node, const std::string& type, const std::vector<const Value*>& from,
                   Properties properties = {}, std::map<std::string, NamedTensor> weights = {});
  // The node's output is another value by another name.
  void alias(const Node& node, const Value& value);

  // A model's input as a value. dims: with batch.
  void add_input(const std::string& name, std::vector<std::int64_t> dims);
  // The same input read in another order of dims.
  void transpose_input(const Node& node, const Value& value, const std::vector<std::int64_t>& dims);
  bool is_input(const Value& value) const;

  // Whether nothing but the node reads this value, under whatever name.
  bool is_only_reader(const Node& node, std::size_t input);
  // The layer that computes a value that nothing but `node` reads; null otherwise.
  LayerDescription* sole_producer(const Node& node, std::size_t input);
  void add_weight(const std::string& layer, const std::string& weight, NamedTensor tensor);

  // Counts numbers that are made and not read. Throws kBadData naming the node where all of them
  // become many times as many as the file has.
  void spend(const Node& node, std::int64_t elements);

  std::int64_t opset() const { return graph_.opset; }
  ModelDescription& description() { return description_; }
  WeightMap& weights() { return weights_; }

 private:
  std::string unique_name(const Node& node);

  const Graph& graph_;
  std::int64_t may_make_;               // numbers
  std::map<std::string, int> readers_;  // of each value of the file
  std::map<std::string, Value> values_;
  std::set<std::string> names_;
  std::map<std::string, int> last_number_;  // given to a layer, by the name before it
  ModelDescription description_;
  WeightMap weights_;
};

}  // namespace moil::onnx
