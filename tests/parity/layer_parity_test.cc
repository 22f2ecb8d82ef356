// Activations, input derivatives, weight gradients and batch statistics of every layer and loss.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/layers/factory.h"
#include "engine/layers/traits.h"
#include "tests/engine/layers/layer_harness.h"
#include "tests/parity/cases.h"

namespace moil::test {
namespace {

std::vector<const Json*> cases_of_type(const std::string& type) {
  auto found = Cases::get()->of_kind("layer");
  std::erase_if(found, [&](const Json* c) { return c->at("type") != type; });
  return found;
}

LayerSpec spec_of(const Json& c) {
  LayerSpec spec{c.at("type"), properties_of(c.at("properties")), {}};
  for (const Json& input : c.at("inputs")) spec.inputs.push_back(Cases::get()->tensor(input).dims);
  spec.lengths = c.at("lengths").get<std::vector<std::int32_t>>();
  if (!spec.lengths.empty()) spec.inputs.push_back(Dims{spec.inputs[0][0]});
  return spec;
}

void load(const Json& c, LayerHarness& harness) {
  const Cases& cases = *Cases::get();
  for (std::size_t i = 0; i < c.at("inputs").size(); ++i)
    harness.set_input(i, in_memory_order(cases.tensor(c.at("inputs")[i])));
  for (std::size_t w = 0; w < harness.weight_specs().size(); ++w) {
    const auto& name = harness.weight_specs()[w].name;
    harness.set_weight(w, cases.tensor(c.at("weights").at(name)).values);
  }
  EXPECT_EQ(harness.weight_specs().size(), c.at("weights").size());
  for (std::size_t o = 0; o < c.at("output_derivatives").size(); ++o)
    harness.set_output_derivative(o, in_memory_order(cases.tensor(c.at("output_derivatives")[o])));
}

void expect_forward(const Json& c, const LayerHarness& harness) {
  const Cases& cases = *Cases::get();
  ASSERT_EQ(c.at("outputs").size(), harness.outputs());
  for (std::size_t o = 0; o < harness.outputs(); ++o) {
    const Tensor expected = cases.tensor(c.at("outputs")[o]);
    EXPECT_EQ(harness.setup().outputs[o].dims, expected.dims);
    expect_close(harness.output(o), in_memory_order(expected), "output " + std::to_string(o));
  }
  for (std::size_t w = 0; w < harness.weight_specs().size(); ++w) {
    const auto& name = harness.weight_specs()[w].name;
    if (c.at("statistics").contains(name))
      expect_close(harness.weight(w), cases.tensor(c.at("statistics").at(name)).values, name);
  }
}

void expect_backward(const Json& c, const LayerHarness& harness) {
  const Cases& cases = *Cases::get();
  for (std::size_t i = 0; i < c.at("input_derivatives").size(); ++i) {
    expect_close(harness.input_derivative(i),
                 in_memory_order(cases.tensor(c.at("input_derivatives")[i])),
                 "derivative of input " + std::to_string(i));
  }
  for (std::size_t w = 0; w < harness.weight_specs().size(); ++w) {
    const auto& name = harness.weight_specs()[w].name;
    if (c.at("gradients").contains(name)) {
      expect_close(harness.gradient(w), cases.tensor(c.at("gradients").at(name)).values,
                   "gradient of " + name);
    }
  }
}

void check_training(const Json& c, KernelSelector& kernels) {
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "not in place");
    HarnessOptions options;
    options.training = c.at("training");
    options.in_place = in_place;
    options.kernels = &kernels;
    LayerHarness harness(spec_of(c), options);
    load(c, harness);
    harness.forward();
    expect_forward(c, harness);
    harness.backward();
    expect_backward(c, harness);
  }
}

// Whether its outputs are training's alone: they follow the batch's statistics or a draw.
bool trains_otherwise(const Json& c) {
  if (!c.at("training")) return false;
  return c.at("type") == "scheduled_sampling" ||
         (c.at("type") == "batch_norm" && !c.at("properties").contains("frozen"));
}

// The plan that runs the backbone: nothing kept, weights packed.
void check_inference(const Json& c, KernelSelector& kernels) {
  if (trains_otherwise(c)) return;
  SCOPED_TRACE("inference");
  HarnessOptions options;
  options.training = false;
  options.train_weight.assign(c.at("weights").size(), false);
  options.input_needs_derivative.assign(c.at("inputs").size() + 1, false);
  options.kernels = &kernels;
  LayerHarness harness(spec_of(c), options);
  load(c, harness);
  harness.forward();
  expect_forward(c, harness);
}

struct Selection {
  std::string name;
  KernelSelector::Options options;
};

// As a job chooses (by measurement), the first choices, and each provider of this build by itself.
std::vector<Selection> selections() {
  std::vector<Selection> result(2);
  result[0].name = "measured";
  result[1].name = "unmeasured";
  result[1].options.measure = false;
  for (const char* name : {"native", "openblas", "onednn"}) {
    KernelSelector::Options options;
    options.providers = {name};
    options.measure = false;
    try {
      const KernelSelector probe(options);
      result.push_back({name, options});
    } catch (const Error&) {
      // Not in this build.
    }
  }
  return result;
}

// False if the one provider that is allowed has nothing for a step of the layer.
template <class Check>
bool computes(const Check& check) {
  try {
    check();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kFailedPrecondition) throw;
    return false;
  }
  return true;
}

class LayerParity : public ::testing::TestWithParam<const char*> {};

TEST_P(LayerParity, AgreesWithPyTorch) {
  MOIL_NEEDS_PARITY_CASES();
  const auto cases = cases_of_type(GetParam());
  ASSERT_FALSE(cases.empty()) << "generate_cases.py has none for " << GetParam();
  for (const auto& [name, options] : selections()) {
    SCOPED_TRACE(name);
    KernelSelector kernels(options);
    std::size_t computed = 0;
    for (const Json* c : cases) {
      SCOPED_TRACE(c->at("name").get<std::string>());
      computed += computes([&] { check_training(*c, kernels); }) ? 1 : 0;
      computed += computes([&] { check_inference(*c, kernels); }) ? 1 : 0;
    }
    const bool alone = !options.providers.empty();
    EXPECT_GE(computed, alone ? cases.size() / 2 : 2 * cases.size());
  }
}

constexpr const char* kTypes[] = {"add",
                                  "add_parameter",
                                  "average_pool",
                                  "batch_norm",
                                  "clip",
                                  "concat",
                                  "conv1d",
                                  "conv2d",
                                  "dropout",
                                  "elu",
                                  "exp",
                                  "flatten",
                                  "fully_connected",
                                  "gelu",
                                  "gelu_tanh",
                                  "global_average_pool",
                                  "gru",
                                  "gru_cell",
                                  "hard_sigmoid",
                                  "hard_swish",
                                  "huber",
                                  "identity",
                                  "layer_norm",
                                  "leaky_relu",
                                  "local_response_norm",
                                  "location_attention",
                                  "log",
                                  "log_softmax",
                                  "lstm",
                                  "lstm_cell",
                                  "matmul",
                                  "max_pool",
                                  "maximum",
                                  "minimum",
                                  "mish",
                                  "mse",
                                  "multi_head_attention",
                                  "multi_out",
                                  "multiply",
                                  "multiply_parameter",
                                  "pad",
                                  "permute",
                                  "positional_encoding",
                                  "power",
                                  "prelu",
                                  "prepend_parameter",
                                  "reciprocal",
                                  "relu",
                                  "relu6",
                                  "reshape",
                                  "resize",
                                  "rnn",
                                  "rnn_cell",
                                  "scale",
                                  "scheduled_sampling",
                                  "sigmoid",
                                  "sigmoid_cross_entropy",
                                  "silu",
                                  "slice",
                                  "softmax",
                                  "softmax_cross_entropy",
                                  "softplus",
                                  "stack",
                                  "tanh",
                                  "unstack"};

INSTANTIATE_TEST_SUITE_P(All, LayerParity, ::testing::ValuesIn(kTypes),
                         [](const auto& tested) { return std::string(tested.param); });

// What reads integers is compared in networks (network_parity_test.cc).
TEST(LayerParityList, HoldsEveryType) {
  for (const auto& type : layer_types())
    EXPECT_TRUE(layer_traits(type).takes_integers ||
                std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes))
        << type;
}

}  // namespace
}  // namespace moil::test
