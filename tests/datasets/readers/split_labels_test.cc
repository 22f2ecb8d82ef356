#include "datasets/readers/split_labels.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace moil::data {
namespace {

using ::testing::ElementsAre;

class Base : public TableDataset<SampleDataset> {
 public:
  Base() {
    table_ = SampleTable({"red+round", "blue", "round+red+old"});
    table_.add({0});
    table_.add({1}, Split::kValidation);
    table_.add({0, 2});
  }
  Digest digest(std::size_t) const override { return {}; }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    return {static_cast<std::uint8_t>(i)};
  }
  std::string name(std::size_t i) const override { return std::to_string(i); }
};

TEST(SplitLabels, ClassesAreTheirLabels) {
  const Base base;
  const SplitLabels split(base, '+');
  EXPECT_THAT(split.classes(), ElementsAre("red", "round", "blue", "old"));
  ASSERT_EQ(split.size(), 3U);
  EXPECT_THAT(split.labels(0), ElementsAre(0, 1));
  EXPECT_THAT(split.labels(1), ElementsAre(2));
  EXPECT_THAT(split.labels(2), ElementsAre(0, 1, 3));
  EXPECT_EQ(split.split(1), Split::kValidation);
  EXPECT_THAT(split.encoded(2), ElementsAre(2));
}

TEST(SplitLabels, EmptyPartsAreRefused) {
  EXPECT_THAT(split_label("a+b+a", '+'), ElementsAre("a", "b"));
  for (const char* wrong : {"", "+a", "a+", "a++b"})
    EXPECT_THROW((void)split_label(wrong, '+'), Error) << wrong;
}

}  // namespace
}  // namespace moil::data
