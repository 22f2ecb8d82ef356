// Layers that an export writes in many nodes and that are themselves again when they are read:
// found by the nodes that the export writes, so that what they look like is said once, in export/.
//
// Looks at the nodes alone; import_written() then compares constants and attributes, when dims are
// known.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/io/onnx/graph_index.h"
#include "engine/io/onnx/onnx_graph.h"
#include "engine/io/onnx/operators/import_state.h"

namespace moil::onnx {

struct WrittenForm;

// What was found: a form's names and nodes in the graph.
struct WrittenLayer {
  const WrittenForm* form = nullptr;
  std::map<std::string, std::string> names;
  std::vector<const Node*> nodes;  // in the form's order
};

class WrittenLayers {
 public:
  // They must outlive this.
  WrittenLayers(const Graph& graph, const GraphIndex& index);

  // Whether the node is part of such a layer, and not its end.
  [[nodiscard]] bool is_part(const Node& node) const { return parts_.contains(&node); }
  // By the end; null if the node is none.
  [[nodiscard]] const WrittenLayer* at(const Node& end) const;
  // What a node must wait for to read a value: a further output of a layer is there when its first
  // is.
  [[nodiscard]] const std::string& awaited(const std::string& value, const Node* reader) const;

 private:
  void try_end(const Node& end, const WrittenForm& form);
  bool match(const std::string& name, const std::string& of_form, WrittenLayer& found) const;
  bool is_read_elsewhere(const WrittenLayer& found) const;

  const Graph& graph_;
  const GraphIndex& index_;
  std::map<const Node*, WrittenLayer> ends_;
  std::set<const Node*> parts_;
  std::map<std::string, const Node*> further_;  // outputs, and the end of their layer
};

// Makes the layer of it. False, and nothing made, if constants or attributes are other ones than
// the export of such a layer has.
[[nodiscard]] bool import_written(ImportState& state, const Node& end, const WrittenLayer& found);

}  // namespace moil::onnx
