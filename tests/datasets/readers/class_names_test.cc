#include "datasets/readers/class_names.h"

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using Names = std::vector<std::string>;

const Names kLabels{"tench, Tinca tinca", "goldfish", "crane (2)", "crane (3)", "Great Grey Owl"};
const Names kIds{"n01", "n02", "n03", "n04", "n05"};
const ClassNames kExpected{{"n01", "tench, Tinca tinca"},
                           {"n02", "goldfish"},
                           {"n03", "crane (2)"},
                           {"n04", "crane (3)"},
                           {"n05", "Great Grey Owl"}};

std::optional<ClassNames> by(const std::string& text, const Names& classes = kIds) {
  return match_by_table(classes, kLabels, parse_name_table(text));
}

TEST(ClassNames, ATableIsReadWhateverItsColumns) {
  EXPECT_EQ(by("n01\ttench\nn02\tgoldfish\nn03\tcrane\nn04\tcrane\nn05\tgreat_grey_owl\n"),
            kExpected);
  EXPECT_EQ(by("n01 tench, Tinca tinca\nn02 goldfish\nn03 crane\nn04 crane\nn05 great grey owl"),
            kExpected);
  EXPECT_EQ(by("n01,tench\r\nn02,goldfish\r\nn03,crane\r\nn04,crane\r\nn05,great grey owl\r\n"),
            kExpected);
  EXPECT_EQ(by("index\twnid\tname\n0\tn01\tA\n1\tn02\tB\n2\tn03\tC\n3\tn04\tD\n4\tn05\tE\n"),
            kExpected)
      << "by the labels' numbers";
  EXPECT_EQ(by(R"({"0": ["n01", "tench"], "1": ["n02", "goldfish"], "2": ["n03", "crane"],
                   "3": ["n04", "crane"], "4": ["n05", "great_grey_owl"]})"),
            kExpected);
}

TEST(ClassNames, SomeClassesAreEnoughAndOthersKeepTheirNames) {
  const std::string table = "n01\ttench\nn02\tgoldfish\nn03\tcrane\nn04\tcrane\n";
  EXPECT_EQ(by(table, {"n02", "Great Grey Owl"}), (ClassNames{{"n02", "goldfish"}}));
}

TEST(ClassNames, WhatIsNotToldOneForOneIsNothing) {
  EXPECT_EQ(by("n01\ttench\nn02\tgoldfish\n"), std::nullopt) << "classes are missing";
  EXPECT_EQ(by("n01\ttench\nn02\ttench\n", {"n01", "n02"}), std::nullopt) << "two are one label";
  EXPECT_EQ(by("n03\tcrane\n", {"n03"}), std::nullopt) << "which of the two cranes is not told";
  EXPECT_EQ(by("n02\tgoldfish\n", {"n02", "goldfish"}), std::nullopt) << "that label is taken";
  EXPECT_EQ(by("Photos of last summer.\nDo not copy.\n"), std::nullopt);
  EXPECT_EQ(by("{broken"), std::nullopt);
  EXPECT_EQ(by(""), std::nullopt);
}

TEST(ClassNames, SpellingAloneTells) {
  EXPECT_EQ(match_by_spelling({"Goldfish", "great_grey-owl"}, kLabels),
            (ClassNames{{"Goldfish", "goldfish"}, {"great_grey-owl", "Great Grey Owl"}}));
  EXPECT_EQ(match_by_spelling({"Goldfish", "n01"}, kLabels), std::nullopt);
}

// A table of ImageNet's shape: two names stand for two classes each, which labels tell apart by
// number.
TEST(ClassNames, AThousandClassesAreTold) {
  std::string text = "index\tid\tname\n";
  Names ids, labels;
  for (int i = 0; i < 1000; ++i) {
    const bool is_crane = i == 134 || i == 517, is_maillot = i == 638 || i == 639;
    const std::string name = is_crane     ? "crane"
                             : is_maillot ? "maillot"
                                          : "jack-o'-lantern, no. " + std::to_string(i);
    ids.push_back("n" + std::to_string(10'000'000 + 7919 * i % 1000));
    labels.push_back(name + (is_crane || is_maillot ? " (" + std::to_string(i) + ")" : ""));
    text += std::to_string(i) + "\t" + ids.back() + "\t" + name + "\n";
  }
  const auto names = match_by_table(ids, labels, parse_name_table(text));
  ASSERT_TRUE(names.has_value());
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(names->at(ids[i]), labels[i]);
}

}  // namespace
}  // namespace moil::data
