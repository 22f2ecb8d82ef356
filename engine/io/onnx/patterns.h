// Functions that exporters write in a dozen nodes, found before any of them is imported: norms by
// the mean of squares, softmax by its exponentials, and rows of a table by comparing.
//
// Looks at the nodes alone; pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/io/onnx/graph_index.h"
#include "engine/io/onnx/onnx_graph.h"

namespace moil::onnx {

// One number a row, and the nodes behind it that give back the axis which it was taken over, the
// last first. If they do is seen when dims are known (pattern_operators.cc).
struct Restored {
  bool keeps_axis = true;
  std::vector<const Node*> shapes;
};

// (x - mean) / sqrt(max(mean of squares - mean^2, 0) + epsilon) * gamma over one axis; the end is
// its last product.
struct NormPattern {
  std::string x, gamma;
  std::int64_t axis = 0;
  double epsilon = 0, share = 0;  // 1 / the size of the axis
  Restored mean, variance;
  std::size_t number_rank = 0;  // the largest of its numbers
};

// e^(x - largest) / the sum of those; the end is the quotient.
struct SoftmaxPattern {
  std::string x;
  std::int64_t axis = 0;
  Restored most, sum;
  std::size_t number_rank = 0;
};

// The rows of a matrix at ids: a product of 1s where an id is the row's number; the end is the
// product.
struct LookupPattern {
  std::string ids, table;
  std::int64_t rows = 0;
  std::vector<std::int64_t> shape;  // that a Reshape gives the ids before they are compared
  const Node* expanded = nullptr;   // behind it; may be null
  std::size_t row_rank = 0;         // of the numbers that they are compared with
};

class Patterns {
 public:
  // They must outlive this.
  Patterns(const Graph& graph, const GraphIndex& index);

  // Whether the node is part of a function, and not its end.
  [[nodiscard]] bool is_part(const Node& node) const { return parts_.contains(&node); }
  // By the end; null if the node is none.
  [[nodiscard]] const NormPattern* norm(const Node& end) const { return at(norms_, end); }
  [[nodiscard]] const SoftmaxPattern* softmax(const Node& end) const { return at(softmaxes_, end); }
  [[nodiscard]] const LookupPattern* lookup(const Node& end) const { return at(lookups_, end); }

 private:
  template <class P>
  static const P* at(const std::map<const Node*, P>& patterns, const Node& end) {
    const auto it = patterns.find(&end);
    return it == patterns.end() ? nullptr : &it->second;
  }
  const Node* producer(const std::string& name, const std::string& op);
  const Node* pair(const std::string& name, const std::string& op);  // of two inputs
  bool is_read_elsewhere(const Node& end) const;
  const Tensor* constant(const std::string& name) const;
  const Tensor* number(const std::string& name) const;
  // Two inputs, a constant and another; false if the node has others.
  bool split(const Node& node, std::string& known, std::string& other) const;
  std::string behind_shapes(std::string name, Restored& restored);
  const Node* reduction(const std::string& name, const std::string& op, std::int64_t& axis,
                        Restored& restored);
  bool mean_of(const std::string& name, NormPattern& norm, bool squares);
  bool variance_of(const Node& root, NormPattern& norm, std::string& mean, NormPattern& squares);
  bool match(const Node& end, NormPattern& norm);
  bool match(const Node& end, SoftmaxPattern& softmax);
  bool match(const Node& end, LookupPattern& lookup);
  template <class P>
  void try_end(const Node& node, std::map<const Node*, P>& found);

  const Graph& graph_;
  const GraphIndex& index_;
  std::set<const Node*> seen_;  // of the match that is tried
  std::set<const Node*> parts_;
  std::map<const Node*, NormPattern> norms_;
  std::map<const Node*, SoftmaxPattern> softmaxes_;
  std::map<const Node*, LookupPattern> lookups_;
};

}  // namespace moil::onnx
