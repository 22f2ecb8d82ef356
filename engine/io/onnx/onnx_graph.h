// An ONNX model as plain data: what onnx_reader.h reads and onnx_writer.h writes.
//
// Only what networks of one flat graph use; no protobuf type shows. Numbers of every element type
// are kept as floats or as 64-bit integers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace moil::onnx {

// Dense, row-major. Exactly one of the two lists holds elements() numbers.
struct Tensor {
  std::vector<std::int64_t> dims;  // empty: a scalar
  bool is_float = true;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  bool is_signed = true;  // whether the file's type has negative numbers

  std::int64_t elements() const;
  static Tensor of(std::vector<std::int64_t> dims, std::vector<float> values);
  static Tensor of_ints(std::vector<std::int64_t> dims, std::vector<std::int64_t> values);
};

using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>, Tensor>;

struct Node {
  std::string name, op, domain;
  std::vector<std::string> inputs;  // empty names stand for inputs left out
  std::vector<std::string> outputs;
  std::map<std::string, Attribute> attributes;

  bool has(const std::string& attribute) const { return attributes.contains(attribute); }
  // The fallback if it is not there. Throw kBadData naming node and attribute for another type.
  std::int64_t integer(const std::string& attribute, std::int64_t fallback) const;
  double number(const std::string& attribute, double fallback) const;
  std::string word(const std::string& attribute, const std::string& fallback) const;
  std::vector<std::int64_t> integers(const std::string& attribute,
                                     std::vector<std::int64_t> fallback = {}) const;
  std::vector<std::string> words(const std::string& attribute) const;  // none if it is not there
  std::vector<double> numbers(const std::string& attribute) const;
  const Tensor* tensor(const std::string& attribute) const;

  // For messages: node "NAME" (OP).
  std::string label() const;
};

// An input or output of the whole graph.
struct GraphValue {
  std::string name;
  std::vector<std::int64_t> dims;  // -1: not said, or symbolic
  bool is_float = true;
  bool is_integer = false;  // of 32 or 64 bits
  bool is_short = false;    // of 8 or 16 bits
  bool is_byte = false;     // from 0 to 255
};

struct Graph {
  std::string name;
  std::int64_t opset = 0;          // of the default domain
  std::vector<GraphValue> inputs;  // without those that are constants
  std::vector<GraphValue> outputs;
  std::vector<Node> nodes;
  std::map<std::string, Tensor> constants;  // initializers
  std::map<std::string, std::string> metadata;
};

}  // namespace moil::onnx
