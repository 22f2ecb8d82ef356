// What becomes of a graph's inputs: preprocessing that a file has inside.
//
// Looks at the nodes alone; pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/io/onnx/onnx_graph.h"

namespace moil::onnx {

class InputEnds {
 public:
  // It must outlive this.
  explicit InputEnds(const Graph& graph);

  // Whether nothing but floats is made of an input of whole numbers.
  [[nodiscard]] bool becomes_floats(const std::string& input) const;

  // Whether an input [N, H, W, C] becomes [N, C, H, W] after nothing but sums and products with
  // constants.
  [[nodiscard]] bool is_turned_to_channels(const std::string& input) const;

 private:
  bool is_known(const std::string& name) const;

  const Graph& graph_;
  std::map<std::string, std::vector<const Node*>> readers_;
  std::map<std::string, const Node*> producers_;
};

}  // namespace moil::onnx
