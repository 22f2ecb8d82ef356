#include "daemon/pretrain/selection.h"

#include <fstream>

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

TEST(Selection, ClassesInTheOrderGiven) {
  const TempFolder temp;
  SelectionOptions options;
  options.data = write_digits(temp, 10);
  options.classes = {"7", "2"};
  const Selection selection(options);
  EXPECT_EQ(selection.classes(), options.classes);
  EXPECT_EQ(selection.size(), 20U);
  EXPECT_EQ(data::samples_of(selection, data::Split::kValidation).size(), 4U);
}

TEST(Selection, LimitAndOffsetCountByClassAndSplit) {
  const TempFolder temp;
  SelectionOptions options;
  options.data = write_digits(temp, 10);
  options.validation_fraction = 0;
  options.limit_per_class = 3;
  const Selection first(options);
  options.skip_per_class = 3;
  const Selection second(options);
  EXPECT_EQ(first.size(), 30U);
  EXPECT_EQ(second.size(), 30U);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first.name(i), second.name(i));
}

TEST(Selection, HeldOutListsOfTagsNeedNotBeAmongThoseTrainedOn) {
  const TempFolder temp;
  SelectionOptions some;
  some.data = write_digits(temp, 2);
  some.classes = {"7"};
  export_samples(Selection(some), temp / "train");
  some.classes = {"7", "8"};
  export_samples(Selection(some), temp / "held-out");
  SelectionOptions options;
  options.data = temp / "train";
  options.validation_data = temp / "held-out";
  EXPECT_EQ(Selection(options).classes(), std::vector<std::string>{"7"});
  options.labels_are_classes = false;
  const Selection tags(options);
  EXPECT_EQ(tags.classes(), (std::vector<std::string>{"7", "8"}));
  EXPECT_EQ(data::samples_of(tags, data::Split::kValidation).size(), 4U);
}

TEST(Selection, HeldOutSamplesMayBeOfSomeClassesAlone) {
  const TempFolder temp;
  SelectionOptions sevens;
  sevens.data = write_digits(temp, 3);
  sevens.classes = {"7"};
  export_samples(Selection(sevens), temp / "held-out");
  SelectionOptions options;
  options.data = write_digits(temp, 2);
  options.validation_data = temp / "held-out";
  const Selection both(options);
  EXPECT_EQ(data::samples_of(both, data::Split::kTrain).size(), 20U);
  EXPECT_EQ(data::samples_of(both, data::Split::kValidation).size(), 3U);
  for (const std::size_t i : data::samples_of(both, data::Split::kValidation))
    EXPECT_EQ(both.classes()[both.labels(i)[0]], "7");
  options.classes = {"1", "2"};
  EXPECT_EQ(error_of([&] { Selection{options}; }), ErrorCode::kInvalidArgument);
}

TEST(Selection, UnknownClassesAndFormatsAreRefused) {
  const TempFolder temp;
  SelectionOptions options;
  options.data = write_digits(temp, 2);
  options.classes = {"eleven"};
  EXPECT_EQ(error_of([&] { Selection{options}; }), ErrorCode::kInvalidArgument);
  options.classes = {};
  options.format = "parquet";
  EXPECT_EQ(error_of([&] { Selection{options}; }), ErrorCode::kInvalidArgument);
}

TEST(Selection, ExportsWhatItReads) {
  const TempFolder temp;
  SelectionOptions options;
  options.data = write_digits(temp, 3);
  options.classes = {"4"};
  const Selection selection(options);
  export_samples(selection, temp / "out");
  SelectionOptions folder;
  folder.data = temp / "out";
  const Selection again(folder);
  ASSERT_EQ(again.size(), selection.size());
  for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again.encoded(i), selection.encoded(i));
  EXPECT_EQ(error_of([&] { export_samples(selection, temp / "out"); }), ErrorCode::kAlreadyExists);
}

}  // namespace
}  // namespace moil::pretrain
