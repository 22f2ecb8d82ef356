// What is known while a graph is imported: the values that nodes gave so far, and the layers and
// weights made of them. Operators (operators.h) read and write it through this interface.
//
// The engine's tensors have the batch first; the file's may have it elsewhere, or have made one
// axis of it and another (as attention does of the batch and the heads). Samples do not know each
// other, so a value is described by one sample alone: its dims in the engine, and where the file
// has the batch among them.
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

#include "engine/io/onnx/onnx_graph.h"
#include "engine/model/model_description.h"
#include "engine/tensor/spec.h"

namespace moil::onnx {

// What a value is of another, if a node further on may make one layer of both.
enum class Form {
  kPlain,
  kPlusThree,     // x + 3
  kClipped,       // min(max(x + 3, 0), 6)
  kTimesClipped,  // x times that
  kHardSigmoid,   // that / 6
  kSigmoid,
  kSoftplus,
  kTanhSoftplus,
  kNormalised,  // rows less their mean by their deviation; no layer computes it yet
  kPending,     // part of a chain that no layer computes by itself
  kFrames,      // of a signal, times constants; no layer computes it yet
};

struct Value;

// Windows of a signal, [count, window], at even distances, times a matrix [results, window].
struct Frames {
  std::shared_ptr<const Value> signal;
  std::int64_t start = 0, hop = 1, window = 1, count = 1;
  std::int64_t results = 0;
  std::vector<float> kernel = {};  // the matrix; empty: one that changes nothing
};

// How the file sees a value that the engine has as an image [N, C, H, W], the batch being first.
enum class View {
  kWhole,         // as it is
  kOneRow,        // [N, C, W]: it has one row
  kOneColumn,     // [N, C, H]: it has one column
  kChannelsLast,  // [N, H, W, C]
};

// One tensor of the file: known, or computed by a layer.
struct Value {
  std::shared_ptr<const Tensor> constant;
  std::string source;  // of a constant: the file's tensor that it has the elements of
  std::string root;    // of a constant: the file's weights that it is made of; empty: of none
  std::string layer;   // the value's name in the description
  TensorInfo info;
  int batch_axis = 0;  // of the file's dims; -1: one with another axis, the batch being 1
  View view = View::kWhole;
  std::string turned;  // of kChannelsLast: the layer's name, if one must turn it
  std::array<std::int64_t, 4> padding = {};  // zeros around it that no layer has made yet
  Form form = Form::kPlain;
  std::string of;              // form's x: a value's name in the description
  const Node* node = nullptr;  // of padding, kNormalised and kPending: what asked for it
  // kNormalised has these.
  double epsilon = 0;
  std::shared_ptr<const Tensor> gamma;
  std::string gamma_source;
  const Node* gamma_node = nullptr;
  std::shared_ptr<const Frames> frames;  // of kFrames
  bool shared = false;                   // read under another name, too

  bool is_padded() const { return padding != std::array<std::int64_t, 4>{}; }
  bool is_image() const { return info.layout == Layout::kChannelsLast; }
  bool is_line() const { return view == View::kOneRow || view == View::kOneColumn; }
};

// As the file has them, with the batch if it is there.
[[nodiscard]] std::vector<std::int64_t> file_dims(const Value& value);
// The file's axis in the engine's dims. Throws Unsupported for the batch.
[[nodiscard]] std::size_t engine_axis(const Value& value, std::size_t file_axis);

// Why a node cannot be imported; the import goes on, to tell of all such nodes.
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ImportState {
 public:
  // outputs: those of the graph's that are imported.
  ImportState(const Graph& graph, const std::vector<GraphValue>& outputs);

  // Says that this node will be imported. Nodes that no output depends on read nothing.
  void add_reader(const Node& node);
  // Whether such a node, or whoever has the graph's outputs, reads this value.
  bool is_read(const std::string& name) const { return readers_.contains(name); }

  // Values by their name in the file.
  const Value* find(const std::string& name) const;
  void set(const std::string& name, Value value);
  // The node that computes a value that is known; null for inputs and initializers.
  const Node* producer(const std::string& name) const;

  // A node's inputs. Throws Unsupported if it is not there, not constant or not computed.
  const Tensor& constant(const Node& node, std::size_t input) const;
  const Tensor* optional_constant(const Node& node, std::size_t input) const;
  // Layers make it: padding, normalisation and frames before this node that have no layer yet get
  // theirs.
  // In the file's own axes; pixels() leaves an image of another view as it is.
  const Value& data(const Node& node, std::size_t input);
  const Value& pixels(const Node& node, std::size_t input);
  // The same as an image (rank 4, channels-last) or a line of pixels (of rank 3 in the file), or in
  // row-major order; rearranged if need be.
  Value spatial(const Node& node, std::size_t input);
  Value rows(const Node& node, std::size_t input);
  const Value& unfinished_data(const Node& node, std::size_t input) const;
  // data() for a node that changes dims alone: frames stay unfinished.
  const Value& of_any_shape(const Node& node, std::size_t input);
  bool has(const Node& node, std::size_t input) const;
  bool is_constant(const Node& node, std::size_t input) const;

  Value as_image(const Value& value);
  Value as_line(const Value& value);
  // Whether rows are a line, or pixels in another order.
  bool is_line_at_no_cost(const Value& value);
  // The value as rows in the file's axes, if it is an image.
  Value as_rows(const Value& value);

  // Makes a layer and gives its output to the node's; weights: by their short names. The layer
  // itself judges shapes and properties: Unsupported with what it says. The batch is where the
  // first input has it. base: what the layer would be called, if not after its weights or node.
  Value& add_layer(const Node& node, const std::string& type, const std::vector<const Value*>& from,
                   Properties properties = {}, std::map<std::string, NamedTensor> weights = {},
                   const std::string& base = {});
  // A layer of this very name, or the one that was made under it before.
  Value helper(const std::string& name, const std::string& type, const Value& from,
               Properties properties);
  // The node's output is another value by another name.
  void alias(const Node& node, const Value& value);
  // Takes the layer's output for the node's, under other dims of the file.
  // batch_axis: of these; the second form finds it.
  void set_dims(const Node& node, const Value& x, const std::vector<std::int64_t>& dims,
                int batch_axis);
  void set_dims(const Node& node, const Value& x, const std::vector<std::int64_t>& dims);

  // A model's input as a value. dims: with batch, as the file has them.
  void add_input(const std::string& name, std::vector<std::int64_t> dims, moil::ElementType type,
                 View view = View::kWhole);
  // The same input read in another order of dims.
  void transpose_input(const Node& node, const Value& value, const std::vector<std::int64_t>& dims);
  bool is_input(const Value& value) const;

  // Whether nothing but the node reads this value, under whatever name.
  bool is_only_reader(const Node& node, std::size_t input);
  LayerDescription* layer_of(const Value& value);
  // What a layer, or a model's input, computes; null if there is none of that name.
  const Value* value_of(const std::string& layer) const;
  // The layer that computes a value that nothing but `node` reads; null otherwise.
  LayerDescription* sole_producer(const Node& node, std::size_t input);
  void add_weight(const std::string& layer, const std::string& weight, NamedTensor tensor);

  // Says that a layer made of the node has a constant as its weight; `first_layer`: of those that
  // were made of it. Weights of one number over and over are no ties: exporters keep equal tensors,
  // as fresh scales are, once.
  void claim_weight(const Node& node, std::size_t input, std::size_t first_layer);
  // Nodes whose layers have the same of the file's weights, and these layers.
  struct Claim {
    const Node* node = nullptr;
    std::string weight;               // as the file calls it
    std::vector<std::string> layers;  // in the description
  };
  [[nodiscard]] std::vector<std::vector<Claim>> ties() const;

  // A further output of the layer that gives a value.
  Value further_output(const Value& first, std::size_t slot, const Dims& dims);

  // Counts numbers that are made of the file's: constants that nodes compute, and layers' weights,
  // which add_layer() counts itself. Throws kBadData naming the node if all of them become many
  // times as many as the file has.
  void spend(const Node& node, std::int64_t elements);

  // An activation that the file rounds, and that is not rounded here.
  void count_quantization() { ++quantizations_; }
  int quantizations() const { return quantizations_; }

  // Whether the file is for one sample at a time, so that what works along the batch is of one.
  bool is_of_one_sample() const;

  std::int64_t opset() const { return graph_.opset; }
  ModelDescription& description() { return description_; }
  WeightMap& weights() { return weights_; }

 private:
  const Value* reshaped(const Value& x);
  std::string unique_name(const Node& node, const std::string& base);
  Value make(LayerDescription layer, const std::vector<const Value*>& from);
  void finish(const std::string& name, const Value& value);
  void finish_norm(Node node, const Value& x);

  const Graph& graph_;
  std::int64_t may_make_;                             // numbers
  std::map<std::string, std::vector<Claim>> claims_;  // by the numbers of a weight
  std::map<std::string, int> readers_;                // of each value of the file
  std::map<std::string, const Node*> producers_;
  std::map<std::string, Value> values_;
  std::map<std::string, Value> plain_;  // images in another view, as the file's
  std::map<std::string, Value> helpers_;
  std::map<std::string, Value> layers_;         // by their names in the description
  std::map<std::string, std::size_t> indices_;  // of these layers there
  std::set<std::string> names_;
  std::map<std::string, int> last_number_;  // given to a layer, by the name before it
  int quantizations_ = 0;
  ModelDescription description_;
  WeightMap weights_;
};

// What a layer is called after its node.
[[nodiscard]] std::string name_after(const Node& node);
// The layer that a constant of the file belongs to, as exporters name tensors; empty if its name
// says nothing.
[[nodiscard]] std::string owner_of(const std::string& source);
// Whether a constant that is added lets pass what it meets or closes it, as an attention mask does:
// every number is 0 or far below.
[[nodiscard]] bool is_mask(const std::vector<float>& values);

// The end of the name of a tensor that is a layer's and is not trained, as exports call it.
inline constexpr char kConstantSuffix[] = ".constant";

// What a layer is called that holds nothing but this constant; empty likewise.
[[nodiscard]] std::string parameter_of(const std::string& source);

}  // namespace moil::onnx
