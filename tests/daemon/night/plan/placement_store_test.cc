#include "daemon/night/plan/placement_store.h"

#include "base/files/file.h"
#include "engine/kernels/parallel.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

ModelDescription model(int units) {
  return parse_model(R"({"format": "moil-model", "version": 1, "name": "m",
      "inputs": [{"name": "x", "dims": [4]}],
      "layers": [{"name": "fc", "type": "fully_connected", "inputs": ["x"],
                  "properties": {"units": )" +
                     std::to_string(units) + R"(}}], "outputs": ["fc"]})");
}

class Placements : public ::testing::Test {
 protected:
  std::optional<Json> load(const PlacementKey& key) const {
    return PlacementStore(file_, key).load();
  }
  PlacementKey key() const { return {model_, options_, optimizer_, "path", "a GPU"}; }

  TempFolder temp_;
  const std::filesystem::path file_ = temp_ / "profiles" / "processors.json";
  ModelDescription model_ = model(3);
  NetworkOptions options_{.batch = 16, .plan = {}};
  OptimizerConfig optimizer_;
};

TEST_F(Placements, AreKeptForWhatTheyWereMeasuredWith) {
  EXPECT_FALSE(load(key()));
  const Json record = {{"method", "path"}, {"layers", {{"fc", "G"}}}};
  PlacementStore(file_, key()).save(record);
  EXPECT_EQ(load(key()), record);

  const ModelDescription wider = model(4);
  EXPECT_FALSE(load({wider, options_, optimizer_, "path", "a GPU"}));
  EXPECT_FALSE(load({model_, options_, optimizer_, "auto", "a GPU"}));
  EXPECT_FALSE(load({model_, options_, optimizer_, "path", "another"}));
  NetworkOptions other = options_;
  other.batch = 8;
  EXPECT_FALSE(load({model_, other, optimizer_, "path", "a GPU"}));
  other = options_;
  other.plan.training = true;
  EXPECT_FALSE(load({model_, other, optimizer_, "path", "a GPU"}));
  OptimizerConfig adam;
  adam.kind = OptimizerKind::kAdam;
  EXPECT_FALSE(load({model_, options_, adam, "path", "a GPU"}));
  const int threads = thread_count();
  set_thread_count(threads + 1);
  EXPECT_FALSE(load(key()));
  set_thread_count(threads);
  EXPECT_TRUE(load(key()));
}

TEST_F(Placements, OneDoesNotReplaceAnother) {
  PlacementStore(file_, key()).save({{"method", "path"}});
  const ModelDescription wider = model(4);
  PlacementStore(file_, {wider, options_, optimizer_, "path", "a GPU"}).save({{"method", "cpu"}});
  EXPECT_EQ(load(key())->at("method"), "path");
}

TEST_F(Placements, WhatCannotBeReadIsMeasuredAgain) {
  PlacementStore(file_, key()).save({{"method", "path"}});
  for (const char* text : {"not json", "[]", R"({"version": "0.0.0", "entries": []})",
                           R"({"version": "0.1.0", "entries": 7})"}) {
    write_file_atomic(file_, std::string_view(text));
    EXPECT_FALSE(load(key())) << text;
  }
  PlacementStore(file_, key()).save({{"method", "path"}});
  EXPECT_TRUE(load(key()));
}

}  // namespace
}  // namespace moil::night
