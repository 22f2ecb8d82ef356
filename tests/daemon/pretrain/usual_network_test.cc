#include "daemon/pretrain/usual_network.h"

#include <gmock/gmock.h>

#include "base/files/file.h"
#include "datasets/readers/sample_folder.h"
#include "datasets/tables/csv_table.h"
#include "engine/io/model_json.h"
#include "engine/model/preparation.h"
#include "tests/daemon/night/support.h"

namespace moil::pretrain {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> dims_of(const data::SampleDataset& dataset) {
  return complete_model(usual_network(dataset, "predict")).inputs.at(0).dims;
}

class UsualNetwork : public ::testing::Test {
 protected:
  data::CsvTable table(const std::string& text) const {
    write_file_atomic(temp_ / "t.csv", text);
    return {temp_ / "t.csv", {.label_column = "label", .split = {}}};
  }
  const night::TempFolder temp_;
};

TEST_F(UsualNetwork, TakesAPlaceForEachColumnOfNumbers) {
  EXPECT_THAT(dims_of(table("a,b,c,label\n1,2,3,x\n4,5,6,y\n")), ElementsAre(3));
  EXPECT_THAT(dims_of(table("a,label\n1,x\n4,y\n")), ElementsAre(1));
}

TEST_F(UsualNetwork, TakesPlacesForTextAndGaps) {
  EXPECT_THAT(dims_of(table("a,colour,label\n1,red,x\n,blue,y\n2,green,y\n")), ElementsAre(5))
      << "a number, whether it is missing, three colours";
}

TEST_F(UsualNetwork, TakesWindowsWhole) {
  std::filesystem::create_directories(temp_ / "w/walk");
  write_file_atomic(temp_ / "w/walk/1.csv", std::string("1,2,3\n4,5,6\n"));
  EXPECT_THAT(dims_of(*data::open_sample_folder(temp_ / "w", {})), ElementsAre(2, 3));
}

TEST_F(UsualNetwork, TakesTheRowsOfIds) {
  const auto input = [](const data::SampleDataset& dataset, const std::vector<std::string>& ids) {
    return complete_model(usual_network(dataset, "predict", ids)).inputs.at(0);
  };
  const InputDescription named = input(table("user,item,label\n1,2,3.5\n"), {});
  EXPECT_EQ(named.type, ElementType::kInt32);
  EXPECT_THAT(named.dims, ElementsAre(2));
  std::filesystem::create_directories(temp_ / "r/3.5");
  write_file_atomic(temp_ / "r/3.5/1.csv", std::string("who,what\na,b\n"));
  const auto files = data::open_sample_folder(temp_ / "r", {});
  EXPECT_EQ(input(*files, {"who", "what"}).type, ElementType::kInt32);
  std::string text;
  EXPECT_EQ(night::error_of([&] { (void)input(*files, {"who"}); }, &text), ErrorCode::kBadData);
  EXPECT_NE(text.find("column \"what\" stands beside columns of ids"), std::string::npos) << text;
  EXPECT_EQ(night::error_of([&] { (void)input(*files, {"who", "where"}); }), ErrorCode::kBadData);
}

TEST(UsualTraining, IsLongerAndTighterForASmallTable) {
  const UsualTraining large = usual_training(100'000, 32, "classify"),
                      small = usual_training(72, 32, "classify");
  EXPECT_EQ(large.epochs, 60);
  EXPECT_GE(small.epochs * 3, 1998);
  EXPECT_DOUBLE_EQ(large.weight_decay, 0.01);
  EXPECT_DOUBLE_EQ(small.weight_decay, 3);
  EXPECT_EQ(usual_training(100'000, 32, "predict", /*are_ids=*/true).epochs, 15);
  for (const std::size_t texts : {72U, 100'000U})
    EXPECT_DOUBLE_EQ(usual_training(texts, 32, "sequence").weight_decay, 0.01);
}

TEST_F(UsualNetwork, OfTextIsTheOneThatShips) {
  const auto shipped =
      read_model(std::filesystem::path(MOIL_SOURCE_DIR) / "config/models/text-lstm.json");
  EXPECT_EQ(format_model(usual_network(night::NumberImages({"a"}, 1), "sequence")),
            format_model(shipped));
}

TEST_F(UsualNetwork, IsOfNumbersAlone) {
  EXPECT_EQ(night::error_of([&] {
              (void)usual_network(night::NumberImages({"a", "b"}, 2), "classify");
            }),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace moil::pretrain
