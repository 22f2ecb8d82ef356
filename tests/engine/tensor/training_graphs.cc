#include "tests/engine/tensor/training_graphs.h"

#include <algorithm>
#include <random>

namespace moil::test {
namespace {

// Builds a graph node by node; `at` is the node that the next one reads.
class GraphBuilder {
 public:
  GraphBuilder(std::size_t batch, std::size_t side) : batch_(batch), side_(side) {}

  int conv(std::size_t channels, std::size_t kernel, std::size_t stride = 1,
           std::size_t groups = 1) {
    const std::size_t weights = channels_ / groups * kernel * kernel * channels * sizeof(float);
    channels_ = channels;
    side_ = (side_ + stride - 1) / stride;
    return push({GraphNode::kConv, {}, output(), weights, kernel > 1 ? output() / 2 : 0});
  }
  int norm() { return push({GraphNode::kNorm, {}, output(), 4 * channels_ * sizeof(float), 0}); }
  int relu() { return push({GraphNode::kRelu, {}, output(), 0, 0}); }
  int conv_norm_relu(std::size_t channels, std::size_t kernel, std::size_t stride = 1,
                     std::size_t groups = 1) {
    conv(channels, kernel, stride, groups);
    norm();
    return relu();
  }
  int add(int other) { return push({GraphNode::kAdd, {at_, other}, output(), 0, 0}); }
  int concat(std::vector<int> parts, std::size_t channels) {
    channels_ = channels;
    return push({GraphNode::kConcat, std::move(parts), output(), 0, 0});
  }
  void go_back(int node, std::size_t channels, std::size_t side) {
    at_ = node;
    channels_ = channels;
    side_ = side;
  }
  int at() const { return at_; }
  std::size_t channels() const { return channels_; }
  std::size_t side() const { return side_; }
  std::vector<GraphNode> take() { return std::move(nodes_); }

 private:
  std::size_t output() const { return batch_ * channels_ * side_ * side_ * sizeof(float); }
  int push(GraphNode node) {
    if (node.inputs.empty() && at_ >= 0) node.inputs = {at_};
    nodes_.push_back(std::move(node));
    return at_ = static_cast<int>(nodes_.size()) - 1;
  }

  std::vector<GraphNode> nodes_;
  std::size_t batch_, side_, channels_ = 3;
  int at_ = -1;
};

std::vector<GraphNode> vgg16(std::size_t batch) {
  GraphBuilder b(batch, 32);
  for (const auto& [channels, count] : {std::pair{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < count; ++i) {
      b.conv(static_cast<std::size_t>(channels), 3, i == 0 && channels > 64 ? 2 : 1);
      b.relu();
    }
  }
  return b.take();
}

std::vector<GraphNode> resnet18(std::size_t batch) {
  GraphBuilder b(batch, 32);
  b.conv_norm_relu(64, 3);
  for (const std::size_t channels : {64u, 64u, 128u, 128u, 256u, 256u, 512u, 512u}) {
    const int start = b.at();
    const std::size_t before = b.channels(), side = b.side();
    const std::size_t stride = channels == before ? 1 : 2;
    int shortcut = start;
    if (stride == 2) {
      b.conv(channels, 1, 2);
      shortcut = b.norm();
      b.go_back(start, before, side);
    }
    b.conv_norm_relu(channels, 3, stride);
    b.conv(channels, 3);
    b.norm();
    b.add(shortcut);
    b.relu();
  }
  return b.take();
}

std::vector<GraphNode> mobilenet_v2(std::size_t batch, std::size_t side) {
  struct Stage {
    std::size_t expand, channels, count, stride;
  };
  GraphBuilder b(batch, side);
  b.conv_norm_relu(32, 3, side > 64 ? 2 : 1);
  for (const Stage& s : {Stage{1, 16, 1, 1},
                         {6, 24, 2, 2},
                         {6, 32, 3, 2},
                         {6, 64, 4, 2},
                         {6, 96, 3, 1},
                         {6, 160, 3, 2},
                         {6, 320, 1, 1}}) {
    for (std::size_t i = 0; i < s.count; ++i) {
      const int start = b.at();
      const std::size_t before = b.channels(), wide = before * s.expand;
      const std::size_t stride = i == 0 ? s.stride : 1;
      if (s.expand > 1) b.conv_norm_relu(wide, 1);
      b.conv_norm_relu(wide, 3, stride, wide);
      b.conv(s.channels, 1);
      b.norm();
      if (stride == 1 && before == s.channels) b.add(start);
    }
  }
  b.conv_norm_relu(1280, 1);
  return b.take();
}

std::vector<GraphNode> inception(std::size_t batch) {
  GraphBuilder b(batch, 32);
  b.conv_norm_relu(64, 3);
  for (const std::size_t width : {32u, 48u, 64u, 96u, 128u}) {
    const int start = b.at();
    const std::size_t channels = b.channels(), side = b.side();
    std::vector<int> ends;
    for (const std::size_t kernel : {1u, 3u, 5u}) {
      b.go_back(start, channels, side);
      b.conv_norm_relu(width / 2, 1);
      ends.push_back(b.conv_norm_relu(width, kernel));
    }
    b.concat(ends, 3 * width);
  }
  return b.take();
}

}  // namespace

std::vector<MemoryRequest> requests_of(const std::vector<GraphNode>& nodes) {
  const int n = static_cast<int>(nodes.size());
  const auto cg = [n](int i) { return n + 3 * (n - 1 - i); };
  std::vector<int> last_read(nodes.size()), first_written(nodes.size());
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    last_read[at] = nodes[at].kind == GraphNode::kRelu ? cg(i) + 1 : i;
    first_written[at] = cg(i);  // the loss writes the derivative of what nobody reads
  }
  for (int i = 0; i < n; ++i) {
    const GraphNode& node = nodes[static_cast<std::size_t>(i)];
    const int reads_until = node.kind == GraphNode::kConv   ? cg(i)
                            : node.kind == GraphNode::kNorm ? cg(i) + 1
                                                            : i;
    for (const int input : node.inputs) {
      const auto at = static_cast<std::size_t>(input);
      last_read[at] = std::max(last_read[at], reads_until);
      first_written[at] = std::min(first_written[at], cg(i) + 1);
    }
  }
  std::vector<MemoryRequest> requests;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const GraphNode& node = nodes[at];
    requests.push_back({node.bytes, i, last_read[at]});
    requests.push_back({node.bytes, first_written[at], cg(i) + 1});
    if (node.weight_bytes > 0) {
      requests.push_back({node.weight_bytes, 0, 4 * n});          // the weight
      requests.push_back({node.weight_bytes, 0, 4 * n});          // its momentum
      requests.push_back({node.weight_bytes, cg(i), cg(i) + 2});  // its gradient
    }
    if (node.kind == GraphNode::kNorm) {
      requests.push_back({node.weight_bytes / 2, i, cg(i) + 1});  // batch statistics
    }
    if (node.workspace_bytes > 0) {
      for (const int order : {i, cg(i), cg(i) + 1}) {
        requests.push_back({node.workspace_bytes, order, order});
      }
    }
  }
  return requests;
}

std::vector<NamedGraph> known_graphs(std::size_t batch) {
  return {{"vgg16", vgg16(batch)},
          {"resnet18", resnet18(batch)},
          {"mobilenet_v2_32", mobilenet_v2(batch, 32)},
          {"mobilenet_v2_224", mobilenet_v2(batch, 224)},
          {"inception", inception(batch)}};
}

std::vector<GraphNode> random_graph(unsigned seed, int nodes) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  std::vector<GraphNode> graph;
  for (int i = 0; i < nodes; ++i) {
    GraphNode node;
    node.kind = static_cast<GraphNode::Kind>(below(5));
    const bool joins = node.kind == GraphNode::kAdd || node.kind == GraphNode::kConcat;
    for (int input = 0; i > 0 && input < (joins ? 2 + below(2) : 1); ++input) {
      node.inputs.push_back(i - 1 - below(static_cast<unsigned>(std::min(i, joins ? 8 : 2))));
    }
    node.bytes = static_cast<std::size_t>(1 + below(1u << (4 + below(14))));
    if (node.kind == GraphNode::kConv) {
      node.weight_bytes = static_cast<std::size_t>(1 + below(20'000));
      node.workspace_bytes = static_cast<std::size_t>(below(2) * below(30'000));
    } else if (node.kind == GraphNode::kNorm) {
      node.weight_bytes = static_cast<std::size_t>(16 + below(500));
    }
    graph.push_back(std::move(node));
  }
  return graph;
}

std::vector<MemoryRequest> random_requests(unsigned seed, int count) {
  std::mt19937 random(seed);
  const unsigned horizon = 1 + random() % 60, size_limit = 1 + random() % 2000;
  std::vector<MemoryRequest> requests;
  for (int i = 0; i < count; ++i) {
    const int a = static_cast<int>(random() % horizon), b = static_cast<int>(random() % horizon);
    requests.push_back(
        {random() % 10 == 0 ? 0 : random() % size_limit, std::min(a, b), std::max(a, b)});
  }
  return requests;
}

}  // namespace moil::test
