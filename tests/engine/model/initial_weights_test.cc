#include "engine/model/initial_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/model/weights.h"
#include "tests/engine/model/models.h"
#include "tests/errors.h"

namespace moil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Graph graph_of(const ModelDescription& model) { return build_graph(model, 1); }

bool same(const WeightMap& a, const WeightMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    const auto it = b.find(name);
    if (it == b.end() || it->second.dims != tensor.dims || it->second.data != tensor.data)
      return false;
  }
  return true;
}

std::string problems(const ModelDescription& model, const WeightMap& weights) {
  return test::error_of([&] { check_weights(graph_of(model), weights); }, ErrorCode::kBadData);
}

TEST(InitialWeightsTest, AFunctionOfSeedAndNames) {
  const ModelDescription model = test::residual_model();
  const WeightMap weights = initial_weights(graph_of(model), 1);
  EXPECT_TRUE(same(weights, initial_weights(graph_of(model), 1)));
  EXPECT_TRUE(same(weights, initial_weights(build_graph(model, 7), 1)));
  EXPECT_FALSE(same(weights, initial_weights(graph_of(model), 2)));
  EXPECT_EQ(problems(model, weights), "");
}

TEST(InitialWeightsTest, OneAtATimeTheyAreTheSame) {
  const Graph graph = graph_of(test::residual_model());
  WeightMap weights;
  for (const Node& node : graph.nodes) {
    for (const WeightSpec& spec : node.weights) {
      const std::string name = weight_name(node, spec);
      weights[name] = initial_weight(spec, name, 1);
    }
  }
  EXPECT_TRUE(same(weights, initial_weights(graph, 1)));
}

// What is appended to a model leaves the weights before it alone.
TEST(InitialWeightsTest, ALayersWeightsAreItsOwn) {
  const WeightMap small = initial_weights(graph_of(test::ModelBuilder({6}).fc(4).model()), 1);
  const WeightMap large = initial_weights(graph_of(test::ModelBuilder({6}).fc(4).fc(4).model()), 1);
  EXPECT_EQ(small.at("fully_connected0.weight").data, large.at("fully_connected0.weight").data);
  EXPECT_NE(large.at("fully_connected0.weight").data[0],
            large.at("fully_connected1.weight").data[0]);
}

TEST(InitialWeightsTest, PinnedNumbers) {
  const WeightMap weights = initial_weights(graph_of(test::ModelBuilder({2}).fc(1).model()), 42);
  const auto& w = weights.at("fully_connected0.weight").data;
  EXPECT_NEAR(w[0], -0.00920048, 1e-6);
  EXPECT_NEAR(w[1], -0.92273775, 1e-6);
}

TEST(InitialWeightsTest, SpreadAsTheInitializersSay) {
  const ModelDescription model = test::ModelBuilder({16, 6, 6})
                                     .conv(64, 3)
                                     .norm()
                                     .layer("global_average_pool")
                                     .fc(300)
                                     .model();
  const WeightMap weights = initial_weights(graph_of(model), 3);
  const auto spread = [&](const std::string& name) {
    double sum = 0, squares = 0, largest = 0;
    const auto& data = weights.at(name).data;
    for (const float x : data) {
      sum += x;
      squares += double(x) * x;
      largest = std::max(largest, std::abs(double(x)));
    }
    const auto n = static_cast<double>(data.size());
    EXPECT_NEAR(sum / n, 0, 4 * std::sqrt(squares / n / n));
    return std::pair(std::sqrt(squares / n), largest);
  };
  const auto [he, he_largest] = spread("conv2d0.weight");
  EXPECT_NEAR(he, std::sqrt(2.0 / (16 * 9)), 0.03 * he);
  EXPECT_GT(he_largest, 3 * he);  // normal
  const auto [xavier, xavier_largest] = spread("fully_connected0.weight");
  EXPECT_LE(xavier_largest, std::sqrt(6.0 / 364));  // uniform
  EXPECT_NEAR(xavier, std::sqrt(2.0 / 364), 0.03 * xavier);
  for (const float x : weights.at("conv2d0.bias").data) EXPECT_EQ(x, 0);
  for (const float x : weights.at("batch_norm0.running_var").data) EXPECT_EQ(x, 1);
}

TEST(CheckWeightsTest, ListsEveryProblem) {
  const ModelDescription model = test::mlp_model(4, 5, 3);
  WeightMap weights = initial_weights(graph_of(model), 1);
  weights.erase("fully_connected0.bias");
  weights["fully_connected1.weight"] = {{5, 3}, std::vector<float>(15)};
  weights["other.weight"] = {{1}, {0}};
  EXPECT_THAT(problems(model, weights),
              AllOf(HasSubstr("\"fully_connected0.bias\" is missing"),
                    HasSubstr("\"fully_connected1.weight\" does not have the dims 3x5"),
                    HasSubstr("no layer has a weight \"other.weight\"")));
}

}  // namespace
}  // namespace moil
