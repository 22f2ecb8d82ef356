// Plans of inference: a chain runs in two alternating buffers (NNTrainer 2022, §3).
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/index.h"
#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

using test::ModelBuilder;

class Planned {
 public:
  Planned(const ModelDescription& model, std::int64_t batch)
      : kernels_(test::fixed_kernels()),
        graph_(build_graph(model, batch)),
        plan_(plan_network(graph_, {}, kernels_)) {}

  const NetworkPlan& plan() const { return plan_; }

  // Weights, and what layers made of them.
  std::size_t always_bytes() const {
    std::size_t bytes = 0;
    for (const TensorId id : plan_.pool.owners()) {
      if (plan_.pool.is_always(id)) bytes += aligned(plan_.pool.spec(id).info.bytes());
    }
    return bytes;
  }

  // For a chain, from the graph alone: what a step that writes a buffer of its own holds.
  std::size_t largest_two_neighbours() const {
    std::size_t buffer = value_bytes(graph_.inputs.at(0)), most = buffer;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const NodePlan& n = plan_.nodes[i];
      const std::size_t workspace =
          n.workspaces[0] == kNoTensor ? 0 : aligned(plan_.pool.spec(n.workspaces[0]).info.bytes());
      const std::size_t next = value_bytes(graph_.nodes[i].outputs.at(0));
      const bool in_place = n.layer.in_place != InPlace::kNo;
      most = std::max(most, buffer + (in_place ? 0 : next) + workspace);
      buffer = in_place ? std::max(buffer, next) : next;
    }
    return most;
  }

 private:
  std::size_t value_bytes(int v) const { return aligned(graph_.values[at(v)].info.bytes()); }

  KernelSelector kernels_;
  Graph graph_;
  NetworkPlan plan_;
};

// A chain of convolutions, norms, activations, poolings and fully connected layers.
ModelDescription random_chain(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int least, int most) {
    return least + static_cast<std::int64_t>(random() % static_cast<unsigned>(most - least + 1));
  };
  ModelBuilder b({pick(1, 8), 16, 16});
  for (std::int64_t i = 0, n = pick(1, 6), pools = 0; i < n; ++i) {
    b.conv(pick(1, 40), random() % 2 == 0 ? 1 : 3);
    if (random() % 2 == 0) b.norm();
    if (random() % 2 == 0) b.layer(random() % 2 == 0 ? "relu" : "silu");
    if (random() % 3 == 0 && pools++ < 3)
      b.layer("max_pool", {{"kernel", std::int64_t{2}}, {"stride", std::int64_t{2}}});
  }
  b.layer("flatten");
  for (std::int64_t i = 0, n = pick(1, 5); i < n; ++i) b.fc(pick(1, 900)).layer("tanh");
  return b.model();
}

TEST(InferencePlanTest, AChainIsTwoAlternatingBuffers) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ModelDescription model = random_chain(seed);
    if (seed % 2 == 0) {
      WeightMap weights = test::random_weights(model, seed);
      model = prepare_inference(model, weights);
    }
    const Planned p(model, 1 + seed % 3);
    ASSERT_EQ(p.plan().memory.total_bytes, p.always_bytes() + p.largest_two_neighbours());
  }
}

// By hand: 60 and 100 floats a sample meet in the second layer; the weights are packed.
TEST(InferencePlanTest, AChainByHand) {
  const Planned p(ModelBuilder({10}).fc(60).fc(100).layer("tanh").fc(3).model(), 16);
  EXPECT_EQ(p.plan().memory.total_bytes - p.always_bytes(), 16u * (60 + 100) * sizeof(float));
}

// Blocks of convolutions around an identity or a projection, as residual networks have them.
ModelDescription random_residual(unsigned seed) {
  std::mt19937 random(seed);
  std::int64_t channels = 4 + random() % 28;
  ModelBuilder b({3, 16, 16});
  b.conv(channels, 3).norm().relu();
  for (unsigned block = 0, blocks = 1 + random() % 5; block < blocks; ++block) {
    const std::string skip = b.last();
    std::string shortcut = skip;
    const bool shrinks = random() % 3 == 0 && block < 3;
    if (shrinks) channels *= 2;
    b.conv(channels, 3, shrinks ? 2 : 1).norm().relu();
    if (random() % 2 == 0) b.conv(channels, 3).norm().relu();
    const std::string body = b.conv(channels, 3).norm().last();
    if (shrinks) shortcut = b.go_back(skip).conv(channels, 1, 2).norm().last();
    b.layer("add", {}, {body, shortcut}).relu();
  }
  return b.layer("global_average_pool").fc(10).model();
}

TEST(InferencePlanTest, AResidualGraphIsWithinOnePercentOfItsBound) {
  double worst = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ModelDescription model = random_residual(seed);
    WeightMap weights = test::random_weights(model, seed);
    if (seed % 2 == 0) model = prepare_inference(model, weights);
    const Planned p(model, 1 + seed % 3);
    // Without what lives always, which would hide what is lost.
    const auto planned = static_cast<double>(p.plan().memory.total_bytes - p.always_bytes());
    const auto bound = static_cast<double>(p.plan().lower_bound_bytes - p.always_bytes());
    ASSERT_LE(planned, 1.01 * bound);
    worst = std::max(worst, planned / bound - 1);
  }
  std::printf("the worst of 200 residual graphs is %.3f%% above its bound\n", 100 * worst);
}

}  // namespace
}  // namespace moil
