#include "engine/model/cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/model/models.h"

namespace moil {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const ModelDescription& model) {
  std::vector<std::string> values;
  for (const Cut& cut : cuts_of(build_graph(model, 2))) values.push_back(cut.value);
  return values;
}

TEST(Cut, AChainCanBeCutBehindEveryLayer) {
  test::ModelBuilder b({4});
  b.fc(5).relu().fc(3);
  EXPECT_THAT(names(b.model()), ElementsAre("fully_connected0", "relu0", "fully_connected1"));
  const auto cuts = cuts_of(build_graph(b.model(), 2));
  EXPECT_THAT(cuts[0].dims, ElementsAre(5));  // without the batch
  EXPECT_EQ(cuts[0].last_node, 0);
  EXPECT_EQ(cuts[2].last_node, 2);
}

TEST(Cut, NotInsideWhereAnotherValuePassesBy) {
  test::ModelBuilder b({4});
  b.fc(4).fc(4).relu().layer("add", {}, {"relu0", "fully_connected0"}).fc(3);
  EXPECT_THAT(names(b.model()), ElementsAre("fully_connected0", "add0", "fully_connected2"));
  test::ModelBuilder c({4});  // the input passes by
  c.fc(4).relu().layer("add", {}, {"relu0", "input"}).fc(3);
  EXPECT_THAT(names(c.model()), ElementsAre("add0", "fully_connected1"));
}

}  // namespace
}  // namespace moil
