#include "daemon/pretrain/selection.h"

#include <fstream>

#include "base/files/file.h"
#include "base/json/json.h"
#include "datasets/labels/csv_line.h"
#include "tests/daemon/night/support.h"

namespace moil::pretrain {
namespace {

using night::error_of;
using night::TempFolder;

// Ten digits, `per_class` lines each, in turn.
std::filesystem::path write_digits(const TempFolder& temp, int per_class) {
  const auto path = temp / "digits.csv";
  std::ofstream file(path);
  for (int i = 0; i < per_class * 10; ++i) {
    for (int p = 0; p < 64; ++p) file << (i * 7 + p * 3) % 17 << ',';
    file << i % 10 << '\n';
  }
  return path;
}

class SelectionTest : public ::testing::Test {
 protected:
  SelectionOptions digits(int per_class, std::vector<std::string> classes = {}) const {
    SelectionOptions options;
    options.data = write_digits(temp_, per_class);
    options.classes = std::move(classes);
    return options;
  }
  static SelectionOptions samples_in(const std::filesystem::path& folder) {
    SelectionOptions options;
    options.data = folder;
    return options;
  }
  const TempFolder temp_;
};

TEST_F(SelectionTest, ClassesInTheOrderGiven) {
  SelectionOptions options = digits(10, {"7", "2"});
  const Selection selection(options);
  EXPECT_EQ(selection.classes(), options.classes);
  EXPECT_EQ(selection.size(), 20U);
  EXPECT_EQ(data::samples_of(selection, data::Split::kValidation).size(), 4U);
}

TEST_F(SelectionTest, LimitAndOffsetCountByClassAndSplit) {
  SelectionOptions options = digits(10);
  options.validation_fraction = 0;
  options.limit_per_class = 3;
  const Selection first(options);
  options.skip_per_class = 3;
  const Selection second(options);
  EXPECT_EQ(first.size(), 30U);
  EXPECT_EQ(second.size(), 30U);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first.name(i), second.name(i));
}

TEST_F(SelectionTest, HeldOutListsOfTagsNeedNotBeAmongThoseTrainedOn) {
  SelectionOptions some = digits(2, {"7"});
  export_samples(Selection(some), temp_ / "train");
  some.classes = {"7", "8"};
  export_samples(Selection(some), temp_ / "held-out");
  SelectionOptions options = samples_in(temp_ / "train");
  options.validation_data = temp_ / "held-out";
  EXPECT_EQ(Selection(options).classes(), std::vector<std::string>{"7"});
  options.labels_are_classes = false;
  const Selection tags(options);
  EXPECT_EQ(tags.classes(), (std::vector<std::string>{"7", "8"}));
  EXPECT_EQ(data::samples_of(tags, data::Split::kValidation).size(), 4U);
}

TEST_F(SelectionTest, HeldOutSamplesMayBeOfSomeClassesAlone) {
  SelectionOptions sevens = digits(3, {"7"});
  export_samples(Selection(sevens), temp_ / "held-out");
  SelectionOptions options = digits(2);
  options.validation_data = temp_ / "held-out";
  const Selection both(options);
  EXPECT_EQ(data::samples_of(both, data::Split::kTrain).size(), 20U);
  EXPECT_EQ(data::samples_of(both, data::Split::kValidation).size(), 3U);
  for (const std::size_t i : data::samples_of(both, data::Split::kValidation))
    EXPECT_EQ(both.classes()[both.labels(i)[0]], "7");
  options.classes = {"1", "2"};
  EXPECT_EQ(error_of([&] { Selection{options}; }), ErrorCode::kInvalidArgument);
}

TEST_F(SelectionTest, UnknownClassesAndFormatsAreRefused) {
  SelectionOptions options = digits(2, {"eleven"});
  EXPECT_EQ(error_of([&] { Selection{options}; }), ErrorCode::kInvalidArgument);
  options.classes = {};
  options.format = "parquet";
  EXPECT_EQ(error_of([&] { Selection{options}; }), ErrorCode::kInvalidArgument);
}

TEST_F(SelectionTest, ExportsWhatItReads) {
  SelectionOptions options = digits(3, {"4"});
  const Selection selection(options);
  export_samples(selection, temp_ / "out");
  const Selection again(samples_in(temp_ / "out"));
  ASSERT_EQ(again.size(), selection.size());
  for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again.encoded(i), selection.encoded(i));
  EXPECT_EQ(error_of([&] { export_samples(selection, temp_ / "out"); }), ErrorCode::kAlreadyExists);
  EXPECT_FALSE(std::filesystem::exists(temp_ / "out/labels.jsonl"));
}

TEST_F(SelectionTest, AListSaysOnWhichSideEachIs) {
  SelectionOptions options = digits(10, {"4", "7"});
  options.validation_fraction = 0.2;
  const Selection selection(options);
  export_samples(selection, temp_ / "out", /*with_list=*/true);
  const std::string list = read_text(temp_ / "out/labels.jsonl");
  std::string_view rest = list, line;
  std::size_t held_out = 0, samples = 0;
  for (; data::next_line(rest, line); ++samples) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["split"], to_string(selection.split(samples)));
    EXPECT_EQ(json["labels"].size(), 1U);
    EXPECT_TRUE(std::filesystem::exists(temp_ / "out" / json["file"].get<std::string>())) << json;
    held_out += json["split"] == "val" ? 1 : 0;
  }
  EXPECT_EQ(samples, selection.size());
  EXPECT_EQ(held_out, data::samples_of(selection, data::Split::kValidation).size());
  EXPECT_GT(held_out, 0U);
}

}  // namespace
}  // namespace moil::pretrain
