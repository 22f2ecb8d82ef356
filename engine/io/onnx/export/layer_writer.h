// One layer after the other on its way into an ONNX graph. How each type is written is said in
// the files *_writers.cc. One thread at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/io/onnx/onnx_graph.h"
#include "engine/model/graph.h"

namespace moil::onnx {

class LayerWriter {
 public:
  // All must outlive it.
  LayerWriter(const ModelDescription& model, const WeightMap& weights, const moil::Graph& built,
              Graph& graph);

  // What follows is about this layer.
  void begin(const moil::Node& node);

  // Values have our names in the file, layers name their last node and its output.
  const std::string& name() const { return layer_->name; }
  std::vector<std::string> inputs() const;
  const TensorInfo& input_info() const;  // of the first
  std::vector<TensorInfo> input_infos() const;
  const TensorInfo& output_info() const;

  // Adds a node; without `to` the layer's last. Gives its output's name.
  std::string emit(const std::string& op, std::vector<std::string> from, const std::string& to = {},
                   std::map<std::string, Attribute> attributes = {});
  // One with several outputs, which have these names; it has the layer's, as no other node may.
  void emit_all(const std::string& op, std::vector<std::string> from, std::vector<std::string> to,
                std::map<std::string, Attribute> attributes = {});
  // A node before the last, "LAYER.SHORT_NAME".
  std::string emit_part(const std::string& op, std::vector<std::string> from,
                        const std::string& short_name,
                        std::map<std::string, Attribute> attributes = {});
  // How many samples x has, as a list of one.
  std::string emit_batch(const std::string& x);
  // Writes nothing: whoever reads the layer reads its input. False if that cannot be, at an
  // output of the model.
  [[nodiscard]] bool leave_out();

  // Constants, "LAYER.SHORT_NAME"; they give that name. kBadData for a weight that is missing.
  // A weight that several layers have is written once, by its one name.
  Tensor constant_of(const std::string& weight) const;
  bool is_shared(const std::string& weight) const;
  std::string add_constant(const std::string& short_name, Tensor tensor);
  std::string add_weight(const std::string& weight);
  std::string add_weight(const std::string& weight, const std::vector<std::int64_t>& dims);
  std::string add_number(const std::string& short_name, float value);
  std::string add_ints(const std::string& short_name, const std::vector<std::int64_t>& values);

  // The layer's properties.
  PropertyReader reader() const { return {layer_->name, *properties_}; }
  bool has(const std::string& property) const { return properties_->contains(property); }
  bool flag(const std::string& property, bool fallback) const;
  std::vector<std::int64_t> two(const std::string& property, std::int64_t fallback) const;
  // top, left, bottom, right, as ONNX has them
  std::vector<std::int64_t> pads() const;

 private:
  std::string full_name(const std::string& weight) const;

  std::map<std::string, const Properties*> all_properties_;  // by layer
  const WeightMap& weights_;
  const moil::Graph& built_;
  Graph& graph_;
  const moil::Node* layer_ = nullptr;
  bool has_name_ = false;  // that a node has
  const Properties* properties_ = nullptr;
  std::map<std::string, std::string> left_out_;  // and what is read instead
};

using LayerWriters = std::map<std::string, void (*)(LayerWriter&), std::less<>>;

void add_image_writers(LayerWriters& writers);
void add_sequence_writers(LayerWriters& writers);
void add_recurrent_writers(LayerWriters& writers);
void add_attention_writers(LayerWriters& writers);

}  // namespace moil::onnx
