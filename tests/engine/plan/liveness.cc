#include "tests/engine/plan/liveness.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "base/index.h"

namespace moil::test {
namespace {

// Types whose F may write over input 0, and whose CD over output derivative 0.
const std::set<std::string> kElementWise = {
    "relu",         "relu6",      "leaky_relu", "sigmoid",    "tanh",
    "hard_sigmoid", "hard_swish", "silu",       "gelu",       "elu",
    "softplus",     "mish",       "gelu_tanh",  "add",        "multiply",
    "dropout",      "batch_norm", "softmax",    "layer_norm", "positional_encoding"};
const std::set<std::string> kDerivativeFromInput = {"hard_swish", "silu",      "gelu",
                                                    "mish",       "gelu_tanh", "layer_norm"};
const std::set<std::string> kLosses = {"softmax_cross_entropy", "sigmoid_cross_entropy", "mse",
                                       "huber"};
// What may be the same data in another shape.
const std::set<std::string> kReshapes = {"flatten", "identity", "dropout", "multi_out"};

class Analysis {
 public:
  Analysis(const Graph& graph, const PlanOptions& options, const NetworkPlan& plan)
      : graph_(graph), options_(options), plan_(plan) {}

  Liveness run() {
    find_backward();
    list_steps();
    add_values();
    if (options_.training) add_derivatives();
    for (int i = 0; i < nodes(); ++i) add_own(i);
    return std::move(live_);
  }

 private:
  int nodes() const { return static_cast<int>(graph_.nodes.size()); }
  const Node& node(int i) const { return graph_.nodes[at(i)]; }
  const NodePlan& told(int i) const { return plan_.nodes[at(i)]; }
  const LayerPlan& layer_plan(int i) const { return told(i).layer; }

  bool trains(int i, std::size_t w) const {
    const WeightSpec& weight = node(i).weights[w];
    return options_.trainable.contains(node(i).name + "." + weight.name);
  }
  bool computes_gradient(int i) const {
    for (std::size_t w = 0; w < node(i).weights.size(); ++w) {
      if (trains(i, w)) return true;
    }
    return false;
  }
  bool same_data(int i) const {
    const bool same = layer_plan(i).in_place == InPlace::kSameData;
    if (same && !kReshapes.contains(node(i).type))
      throw std::logic_error(node(i).type + " says that its output is its input");
    return same;
  }
  bool same_derivative(int i) const {
    return layer_plan(i).derivative_in_place == InPlace::kSameData &&
           told(i).output_derivatives[0] != kNoTensor;
  }

  // wanted_[v]: something before value v trains. backward_[i]: CD of node i is needed.
  void find_backward() {
    wanted_.assign(graph_.values.size(), false);
    backward_.assign(graph_.nodes.size(), false);
    if (!options_.training) return;
    for (int i = 0; i < nodes(); ++i) {
      for (const int v : node(i).inputs)
        if (wanted_[at(v)]) backward_[at(i)] = true;
      for (const int v : node(i).outputs) wanted_[at(v)] = backward_[at(i)] || computes_gradient(i);
    }
  }

  void step(StepKind kind, int i) {
    time_[{kind, i}] = static_cast<int>(live_.steps.size());
    live_.steps.push_back({kind, i});
  }
  // When a step runs; -1 if it does not.
  int time(StepKind kind, int i) const {
    const auto it = time_.find({kind, i});
    return it == time_.end() ? -1 : it->second;
  }
  int end() const { return std::max(0, static_cast<int>(live_.steps.size()) - 1); }

  void list_steps() {
    for (int i = 0; i < nodes(); ++i) {
      if (!same_data(i)) step(StepKind::kForward, i);
    }
    for (int i = nodes() - 1; options_.training && i >= 0; --i) {
      if (computes_gradient(i)) step(StepKind::kComputeGradient, i);
      if (backward_[at(i)] && !same_derivative(i)) step(StepKind::kComputeDerivative, i);
      if (computes_gradient(i) && !options_.clip_by_global_norm) step(StepKind::kApplyGradient, i);
    }
    if (!options_.training || !options_.clip_by_global_norm) return;
    for (int i = nodes() - 1; i >= 0; --i) {
      if (computes_gradient(i)) step(StepKind::kApplyGradient, i);
    }
  }

  int add(const std::string& name, TensorId id, std::size_t bytes, int first, int last) {
    live_.tensors.push_back({name, {id}, bytes, first, last, -1});
    return static_cast<int>(live_.tensors.size()) - 1;
  }
  void read(int tensor, int when) {
    auto& last = live_.tensors[at(tensor)].last;
    last = std::max(last, when);
  }
  std::size_t value_bytes(int v) const { return graph_.values[at(v)].info.bytes(); }

  // Which of node i's steps read its input `slot`, besides F.
  bool gradient_reads_input(int i) const {
    const std::string& type = node(i).type;
    if (type == "batch_norm") {
      const bool statistics = uses_batch_statistics(i);
      return trains(i, 0) || (computes_gradient(i) && statistics && backward_[at(i)]);
    }
    return trains(i, 0);  // the weight itself; a bias needs the derivative alone
  }
  bool uses_batch_statistics(int i) const {  // a frozen one saves none
    return options_.training && !layer_plan(i).saved.empty();
  }
  bool derivative_reads_input(int i, std::size_t slot) const {
    const std::string& type = node(i).type;
    if (kLosses.contains(type) || kDerivativeFromInput.contains(type)) return true;
    if (type == "batch_norm") return uses_batch_statistics(i);
    if (type == "multiply") return wanted_[at(node(i).inputs[1 - slot])];
    return false;
  }
  bool derivative_reads_output(int i) const {
    const std::string& type = node(i).type;
    if (type == "softmax") return true;
    const std::set<std::string> from_output = {"relu", "relu6",        "leaky_relu", "sigmoid",
                                               "tanh", "hard_sigmoid", "elu",        "softplus"};
    return from_output.contains(type);
  }

  void add_values() {
    content_.assign(graph_.values.size(), -1);
    for (const int v : graph_.inputs)
      content_[at(v)] = add(graph_.values[at(v)].name, plan_.values[at(v)], value_bytes(v), 0, 0);
    for (int i = 0; i < nodes(); ++i) {
      read_inputs(i);
      for (std::size_t s = 0; s < node(i).outputs.size(); ++s) add_output(i, s);
    }
    for (const int v : graph_.outputs) read(content_[at(v)], end());
    allow_in_place();
  }

  void read_inputs(int i) {
    for (std::size_t s = 0; s < node(i).inputs.size(); ++s) {
      const int tensor = content_[at(node(i).inputs[s])];
      read(tensor, time(StepKind::kForward, i));
      if (computes_gradient(i) && gradient_reads_input(i))
        read(tensor, time(StepKind::kComputeGradient, i));
      if (derivative_reads_input(i, s)) read(tensor, time(StepKind::kComputeDerivative, i));
    }
  }

  void add_output(int i, std::size_t slot) {
    const int v = node(i).outputs[slot];
    const TensorId id = plan_.values[at(v)];
    if (same_data(i)) {
      content_[at(v)] = content_[at(node(i).inputs[0])];
      live_.tensors[at(content_[at(v)])].ids.push_back(id);
      return;
    }
    const int now = time(StepKind::kForward, i);
    content_[at(v)] = add(graph_.values[at(v)].name, id, value_bytes(v), now, now);
    if (derivative_reads_output(i)) read(content_[at(v)], time(StepKind::kComputeDerivative, i));
  }

  void allow_in_place() {
    for (int i = 0; i < nodes(); ++i) {
      if (same_data(i) || !kElementWise.contains(node(i).type)) continue;
      const int from = content_[at(node(i).inputs[0])], to = content_[at(node(i).outputs[0])];
      const bool read_again = std::any_of(node(i).inputs.begin() + 1, node(i).inputs.end(),
                                          [&](int v) { return content_[at(v)] == from; });
      if (!read_again && live_.tensors[at(from)].last == time(StepKind::kForward, i))
        live_.tensors[at(to)].may_lie_over = from;
    }
  }

  void add_derivatives() {
    std::vector<int> derivative(graph_.values.size(), -1);
    for (int i = nodes() - 1; i >= 0; --i) {
      std::vector<int> given;
      for (const int v : node(i).outputs) given.push_back(derivative[at(v)]);
      for (const int g : given) {
        if (g < 0) continue;
        read(g, time(StepKind::kComputeGradient, i));
        read(g, time(StepKind::kComputeDerivative, i));
      }
      for (std::size_t s = 0; s < node(i).inputs.size(); ++s) {
        const int v = node(i).inputs[s];
        if (!wanted_[at(v)]) continue;
        const TensorId id = told(i).input_derivatives[s];
        if (same_derivative(i)) {
          derivative[at(v)] = given[0];
          live_.tensors[at(given[0])].ids.push_back(id);
          continue;
        }
        const int now = time(StepKind::kComputeDerivative, i);
        derivative[at(v)] = add(graph_.values[at(v)].name + "'", id, value_bytes(v), now, now);
        if (s == 0) derivative_over_.push_back({derivative[at(v)], given, i});
      }
    }
    for (const auto& [to, given, i] : derivative_over_) {
      const bool may = kElementWise.contains(node(i).type) || node(i).type == "multi_out";
      if (may && given[0] >= 0 && live_.tensors[at(given[0])].last == live_.tensors[at(to)].first)
        live_.tensors[at(to)].may_lie_over = given[0];
    }
  }

  int first_backward(int i) const {
    const int gradient = time(StepKind::kComputeGradient, i);
    return gradient >= 0 ? gradient : time(StepKind::kComputeDerivative, i);
  }
  int last_backward(int i) const {
    return std::max({time(StepKind::kForward, i), time(StepKind::kComputeGradient, i),
                     time(StepKind::kComputeDerivative, i)});
  }

  void add_own(int i) {
    const NodePlan& t = told(i);
    for (std::size_t w = 0; w < node(i).weights.size(); ++w) {
      const std::string name = node(i).name + "." + node(i).weights[w].name;
      const std::size_t bytes = at(static_cast<int>(node(i).weights[w].dims.elements())) * 4;
      if (layer_plan(i).keeps(w)) add(name, t.weights[w], bytes, 0, end());
      if (!options_.training || !trains(i, w)) continue;
      const int first = options_.micro_batches > 1 ? 0 : time(StepKind::kComputeGradient, i);
      const int last = options_.micro_batches > 1 ? end() : time(StepKind::kApplyGradient, i);
      add(name + "'", t.gradients[w], bytes, first, last);
      for (const TensorId state : t.states[w]) add(name + " state", state, bytes, 0, end());
    }
    add_saved(i);
    const std::pair<StepKind, TensorId> workspaces[] = {
        {StepKind::kForward, t.workspaces[0]},
        {StepKind::kComputeGradient, t.workspaces[1]},
        {StepKind::kComputeDerivative, t.workspaces[2]}};
    const std::size_t bytes[] = {layer_plan(i).forward_workspace, layer_plan(i).gradient_workspace,
                                 layer_plan(i).derivative_workspace};
    for (std::size_t s = 0; s < 3; ++s) {
      const int now = time(workspaces[s].first, i);
      if (now >= 0 && bytes[s] > 0)
        add(node(i).name + " workspace", workspaces[s].second, bytes[s], now, now);
    }
  }

  void add_saved(int i) {
    for (std::size_t s = 0; s < layer_plan(i).saved.size(); ++s) {
      const SavedSpec& saved = layer_plan(i).saved[s];
      if (saved.bytes == 0) continue;
      int first = time(StepKind::kForward, i), last = last_backward(i);
      if (saved.name == "packed_weight") first = 0, last = end();
      if (saved.name == "sums") first = time(StepKind::kComputeGradient, i);
      if (saved.name == "carried") first = first_backward(i);
      add(node(i).name + " " + saved.name, told(i).saved[s], saved.bytes, first, last);
    }
  }

  const Graph& graph_;
  const PlanOptions& options_;
  const NetworkPlan& plan_;
  Liveness live_;
  std::vector<bool> wanted_, backward_;
  std::vector<int> content_;  // by value
  std::map<std::pair<StepKind, int>, int> time_;
  struct Over {
    int to;
    std::vector<int> given;
    int node;
  };
  std::vector<Over> derivative_over_;
};

std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

std::size_t Liveness::lower_bound_bytes() const {
  std::size_t most = 0;
  for (int t = 0; t < static_cast<int>(steps.size()); ++t) {
    std::size_t sum = 0;
    for (const LiveTensor& tensor : tensors) {
      if (tensor.first > t || tensor.last < t) continue;
      sum += rounded(tensor.bytes);
      if (tensor.may_lie_over >= 0 && tensor.first == t)
        sum -= std::min(rounded(tensor.bytes), rounded(tensors[at(tensor.may_lie_over)].bytes));
    }
    most = std::max(most, sum);
  }
  return most;
}

Liveness liveness_of(const Graph& graph, const PlanOptions& options, const NetworkPlan& plan) {
  return Analysis(graph, options, plan).run();
}

std::size_t offset_of(const NetworkPlan& plan, TensorId id) {
  const auto it = std::find_if(plan.stays.begin(), plan.stays.end(),
                               [&](const Stay& stay) { return stay.owner == plan.pool.owner(id); });
  if (it == plan.stays.end()) throw std::logic_error("no memory for " + plan.pool.spec(id).name);
  return plan.memory.offsets[static_cast<std::size_t>(it - plan.stays.begin())];
}

}  // namespace moil::test
