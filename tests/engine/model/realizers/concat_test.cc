#include <gmock/gmock.h>

#include "engine/layers/factory.h"
#include "engine/layers/traits.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/realizers.h"
#include "tests/engine/layers/types_of_tests.h"
#include "tests/engine/model/models.h"
#include "tests/engine/model/realizers/support.h"

namespace moil {
namespace {

using test::equations;
using test::ModelBuilder;
using ::testing::ElementsAre;

TEST(ConcatRealizerTest, SeveralInputsAreJoinedWhereOneIsTaken) {
  ModelBuilder b({3, 4, 4});
  b.conv(2, 3).layer("conv2d", {{"out_channels", std::int64_t{5}}, {"kernel", std::int64_t{1}}},
                     {"conv2d0", "input"}, "joined");
  const ModelDescription result = realize_concat(b.model());
  EXPECT_THAT(equations(result),
              ElementsAre("conv2d0 = conv2d(input)", "joined/concat = concat(conv2d0, input)",
                          "joined = conv2d(joined/concat)"));
  EXPECT_EQ(build_graph(result, 2).nodes[2].weights[0].dims, (Dims{5, 5, 1, 1}));
}

TEST(ConcatRealizerTest, LayersOfSeveralInputsKeepThem) {
  ModelBuilder b({4});
  b.fc(4).layer("add", {}, {"fully_connected0", "input"}, "sum");
  b.layer("multiply", {}, {"sum", "input"}).layer("concat", {}, {"multiply0", "sum"});
  EXPECT_EQ(equations(realize_concat(b.model())), equations(b.model()));
}

// Every built-in layer either takes two equal images itself or gets them joined.
TEST(ConcatRealizerTest, KnowsEveryBuiltInLayer) {
  for (const std::string& type : layer_types()) {
    SCOPED_TRACE(type);
    if (layer_traits(type).takes_integers) continue;  // no images
    if (type == "location_attention" || type.starts_with("rnn") || type.starts_with("gru") ||
        type.starts_with("lstm"))
      continue;  // unlike inputs
    Properties properties;
    if (type.starts_with("conv")) properties["out_channels"] = std::int64_t{2};
    if (type == "fully_connected") properties["units"] = std::int64_t{2};
    if (type == "multi_head_attention") properties["heads"] = std::int64_t{2};
    if (type.starts_with("conv") || type == "max_pool" || type == "average_pool")
      properties["kernel"] = std::int64_t{1};
    if (type == "add_parameter" || type == "multiply_parameter" || type == "reshape")
      properties["dims"] = std::vector<std::int64_t>{12};
    if (type == "permute") properties["order"] = std::vector<std::int64_t>{0, 1};
    if (type == "local_response_norm") properties["size"] = std::int64_t{3};
    if (type == "resize") properties["size"] = std::int64_t{4};
    if (type == "slice") properties["length"] = std::int64_t{2};
    if (type == "pad") properties["begin"] = properties["end"] = std::vector<std::int64_t>{1};
    if (type == "multi_out") properties["outputs"] = std::int64_t{2};
    if (moil::test::is_of_another_test(type)) continue;
    std::vector<std::int64_t> dims = {6};
    if (type == "conv2d" || type.ends_with("_pool") || type == "local_response_norm" ||
        type == "resize")
      dims = {2, 3, 3};
    if (type == "matmul") dims = {3, 3};
    if (type == "conv1d" || type == "unstack" || type == "multi_head_attention" ||
        type == "positional_encoding")
      dims = {2, 6};
    if (type == "prepend_parameter") dims = {2, 6};
    ModelBuilder b(dims);
    b.layer(type, properties, {"input", "input"}, "x");
    EXPECT_NO_THROW((void)build_graph(realize_concat(b.model()), 2));
  }
}

}  // namespace
}  // namespace moil
