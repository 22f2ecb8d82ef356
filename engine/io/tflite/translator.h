// What operators of a TensorFlow Lite file write their nodes with.
#pragma once

#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/io/onnx/onnx_graph.h"
#include "tflite_generated.h"

namespace moil::tflite {

using Ints = std::vector<std::int64_t>;

// Types by ONNX's numbers.
inline constexpr std::int64_t kOnnxFloats = 1, kOnnxInts = 7;

// Why an operator cannot be translated.
class Untranslatable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The graph as it grows. One thread.
class Translator {
 public:
  // bytes: the model's; they outlive it. Every table was verified, but for those of options.
  Translator(std::span<const std::uint8_t> bytes, const file::Model& model);

  // Gives names to all tensors, takes the constants over and says what goes in and out.
  void begin();
  onnx::Graph& graph() { return graph_; }

  // The operator that the functions below speak of.
  void enter(const file::Operator& op);
  [[nodiscard]] std::size_t inputs() const;
  [[nodiscard]] bool has(std::size_t input) const;
  // By name in the graph. Throw Untranslatable if there is none.
  [[nodiscard]] const std::string& input(std::size_t k) const;
  [[nodiscard]] const std::string& output(std::size_t k = 0) const;
  [[nodiscard]] std::size_t outputs() const;
  [[nodiscard]] Ints input_dims(std::size_t k) const;
  [[nodiscard]] bool is_whole_number(std::size_t input) const;
  [[nodiscard]] bool reads_complex_numbers() const;
  // Of a constant of whole numbers, or of one that nothing computes but the file's dims.
  [[nodiscard]] Ints input_ints(std::size_t k) const;
  // The operator's own table of options; kBadData if it is none.
  template <class Options>
  [[nodiscard]] const Options& options() const {
    const auto* table = reinterpret_cast<const Options*>(op_->options());
    if (table == nullptr) return *reinterpret_cast<const Options*>(no_options());
    flatbuffers::Verifier verifier(bytes_.data(), bytes_.size());
    if (!table->Verify(verifier)) throw_bad_options();
    return *table;
  }

  // A node behind the operator's other nodes; its output's name: `to`, or one that nothing else has
  // if that is empty.
  std::string add(const std::string& op, const std::vector<std::string>& inputs,
                  std::map<std::string, onnx::Attribute> attributes = {},
                  const std::string& to = {});
  // The node that gives the operator's first output, before the activation that is fused behind it.
  void end(const std::string& op, const std::vector<std::string>& inputs,
           std::map<std::string, onnx::Attribute> attributes = {}, int activation = 0);
  // The same of an activation alone.
  void activate(const std::string& value, int activation);
  // Constants.
  std::string ints(const Ints& values);
  std::string whole(std::int64_t value);  // of rank 0
  std::string number(float value);
  std::string numbers(const Ints& dims, std::vector<float> values);
  // An image with its channels in second place; and end() of one with these in the last again.
  std::string to_channels(const std::string& value);
  void end_in_last(const std::string& value, int activation = 0);
  // 1 / root is `value`; root_of() is empty of any other value.
  void remember_root(const std::string& value, const std::string& root) { roots_[value] = root; }
  [[nodiscard]] std::string root_of(const std::string& value) const {
    const auto it = roots_.find(value);
    return it == roots_.end() ? std::string() : it->second;
  }

 private:
  static const flatbuffers::Table* no_options();
  [[noreturn]] void throw_bad_options() const;
  void add_input(int index);
  const file::Tensor& tensor(int index) const;
  int input_index(std::size_t k) const;
  std::string fresh(const std::string& base);

  const std::span<const std::uint8_t> bytes_;
  const file::Model& model_;
  const file::SubGraph& subgraph_;
  onnx::Graph graph_;
  std::vector<std::string> names_;  // of the file's tensors
  std::set<std::string> taken_;
  std::map<std::string, std::string> roots_;
  const file::Operator* op_ = nullptr;
};

}  // namespace moil::tflite
