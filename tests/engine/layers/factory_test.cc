#include "engine/layers/factory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "engine/layers/makers.h"
#include "tests/engine/layers/types_of_tests.h"
#include "tests/errors.h"

namespace moil {
namespace {

bool is_recurrent(const std::string& type) {
  return type.starts_with("rnn") || type.starts_with("gru") || type.starts_with("lstm");
}

Properties simple_properties(const std::string& type) {
  if (type == "multi_out") return {{"outputs", std::int64_t{2}}};
  if (type == "global_average_pool") return {};
  Properties properties;
  if (type.starts_with("conv")) properties = {{"out_channels", std::int64_t{3}}};
  if (type == "fully_connected" || is_recurrent(type)) properties["units"] = std::int64_t{3};
  if (type.starts_with("conv") || type.ends_with("_pool")) properties["kernel"] = std::int64_t{3};
  if (type == "add_parameter" || type == "multiply_parameter" || type == "reshape")
    properties["dims"] = std::vector<std::int64_t>{3};
  if (type == "permute") properties["order"] = std::vector<std::int64_t>{0, 2, 1};
  if (type == "embedding") properties["rows"] = properties["width"] = std::int64_t{3};
  if (type == "local_response_norm") properties["size"] = std::int64_t{3};
  if (type == "resize") properties["size"] = std::int64_t{4};
  if (type == "multi_head_attention") properties["heads"] = std::int64_t{3};
  if (type == "slice") properties["length"] = std::int64_t{1};
  if (type == "pad") properties["begin"] = properties["end"] = std::vector<std::int64_t>{1};
  return properties;
}

TEST(Factory, EveryTypeSaysItsName) {
  const auto types = layer_types();
  EXPECT_GE(types.size(), 26U);
  for (const auto& type : types) {
    if (test::is_of_another_test(type)) continue;
    EXPECT_EQ(make_layer(type, "x", simple_properties(type))->type(), type);
  }
}

// The properties that makers.h names behind each type: "type: first, second = 1".
std::map<std::string, std::set<std::string>> written_properties() {
  std::ifstream file(std::string(MOIL_SOURCE_DIR) + "/engine/layers/makers.h");
  std::map<std::string, std::set<std::string>> written;
  std::string line, type;
  while (std::getline(file, line)) {
    const auto comment = line.find("// ");
    const bool is_declaration = line.starts_with("MakeLayer ");
    if (comment == std::string::npos || !(is_declaration || line.starts_with("  "))) continue;
    std::string text = line.substr(comment + 3);
    if (is_declaration) {
      type = text.substr(0, text.find(':'));
      text.erase(0, type.size() + 1);
      written[type];
    }
    std::istringstream words(text);
    for (std::string word; std::getline(words >> std::ws, word, ',');)
      written[type].insert(word.substr(0, word.find(' ')));
  }
  return written;
}

// Those that the layer knows, as it says if it is given another.
std::set<std::string> known_properties(const std::string& type) {
  Properties properties = simple_properties(type);
  properties["of no layer"] = std::int64_t{1};
  const std::string text = test::error_of([&] { (void)make_layer(type, "x", properties); });
  const auto known = text.find("known: ");
  if (known == std::string::npos) ADD_FAILURE() << type << ": " << text;
  std::set<std::string> names;
  std::istringstream words(text.substr(known + 7));
  for (std::string word; std::getline(words >> std::ws, word, ',');) names.insert(word);
  return names;
}

TEST(Factory, PropertiesAreThoseThatAreWrittenDown) {
  const auto written = written_properties();
  for (const auto& type : layer_types()) {
    if (test::is_of_another_test(type) || layer_traits(type).is_activation) continue;
    ASSERT_TRUE(written.contains(type)) << type;
    EXPECT_EQ(written.at(type), known_properties(type)) << type;
  }
}

// Whether the layer takes these inputs.
bool takes(const Layer& layer, const std::vector<TensorInfo>& inputs) {
  try {
    (void)layer.infer_outputs(inputs);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// One that the layer takes, several times over.
std::vector<TensorInfo> inputs_of(const Layer& layer, std::size_t count) {
  for (const TensorInfo& info :
       {TensorInfo{{2, 4, 6, 6}, Layout::kChannelsLast}, TensorInfo{{2, 3}, Layout::kPlain},
        TensorInfo{{2, 3, 3}, Layout::kPlain}}) {
    const std::vector<TensorInfo> inputs(count, info);
    if (takes(layer, inputs)) return inputs;
  }
  return {};
}

// What a type says of itself is what its layer does.
TEST(LayerTraits, AgreeWithTheLayers) {
  for (const auto& type : layer_types()) {
    if (test::is_of_another_test(type) || type == "location_attention")
      continue;  // five unlike inputs
    SCOPED_TRACE(type);
    const LayerTraits& traits = layer_traits(type);
    const auto layer = make_layer(type, "x", simple_properties(type));
    const auto one = inputs_of(*layer, 1), two = inputs_of(*layer, 2);
    ASSERT_FALSE(one.empty() && two.empty());
    if (traits.takes_one_input) {
      EXPECT_FALSE(one.empty());
      EXPECT_TRUE(two.empty());
    }
    const auto weights = layer->weights(one.empty() ? two : one);
    EXPECT_EQ(traits.owns_weights, !weights.empty());
    if (!traits.rows_property.empty()) {
      const std::int64_t rows =
          std::get<std::int64_t>(simple_properties(type).at(std::string(traits.rows_property)));
      for (const WeightSpec& weight : weights) EXPECT_EQ(weight.dims[0], rows) << weight.name;
    }
    EXPECT_EQ(traits.normalises_over_batch, type == "batch_norm");
    if (traits.only_moves) {
      EXPECT_EQ(layer->infer_outputs(one)[0].dims.elements(), one[0].dims.elements());
    }
  }
}

TEST(LayerTraits, OfAnUnknownTypeAreOff) {
  const LayerTraits& traits = layer_traits("of_the_users");
  EXPECT_FALSE(traits.takes_one_input);
  EXPECT_TRUE(traits.rows_property.empty());
}

TEST(Factory, UnknownTypeNamesTheKnownOnes) {
  try {
    (void)make_layer("convolution", "stem", {});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    const std::string text = e.what();
    EXPECT_NE(text.find("\"stem\""), std::string::npos);
    EXPECT_NE(text.find("\"convolution\""), std::string::npos);
    EXPECT_NE(text.find("conv2d"), std::string::npos);
  }
}

TEST(Factory, TakesUsersOwnLayers) {
  register_layer("users_own", make_identity);
  EXPECT_NE(make_layer("users_own", "x", {}), nullptr);
  const auto types = layer_types();
  EXPECT_NE(std::find(types.begin(), types.end(), "users_own"), types.end());
}

}  // namespace
}  // namespace moil
