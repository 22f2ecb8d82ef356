#include "daemon/night/plan/timing_store.h"

#include "base/files/file.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

ModelDescription timed_model() {
  return parse_model(
      R"({"format": "moil-model", "version": 1, "name": "m",
          "inputs": [{"name": "x", "dims": [4]}],
          "layers": [{"name": "fc", "type": "fully_connected", "inputs": ["x"],
                      "properties": {"bias": true, "units": 3}}],
          "outputs": ["fc"]})");
}

struct Stores {
  TimingStore store(const std::set<std::string>& layers = {"fc"}, const TrainerConfig& config = {},
                    int threads = 2) const {
    return {temp / "timing", timed_model(), layers, config, threads};
  }
  TempFolder temp;
};

ProfileInForce profile() { return {{{{"fc", 1, 2, {}}}, 1, 8, 0}, 0.5, "measured"}; }

TEST(TimingStore, KeepsAProfileForWhatItWasMeasuredWith) {
  const Stores stores;
  EXPECT_FALSE(stores.store().load());
  stores.store().save(profile());
  const auto found = stores.store().load();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->profile.step, 8);
  EXPECT_EQ(found->why, "stored");

  TrainerConfig config;
  config.batch = 16;
  EXPECT_FALSE(stores.store({"fc"}, config).load());
  config = {};
  config.optimizer.momentum = 0.9;
  EXPECT_FALSE(stores.store({"fc"}, config).load());
  EXPECT_FALSE(stores.store({}, {}).load());
  EXPECT_FALSE(stores.store({"fc"}, {}, 1).load());
}

TEST(TimingStore, WhatCannotBeReadIsMeasuredAgain) {
  const Stores stores;
  stores.store().save(profile());
  for (const auto& file : std::filesystem::directory_iterator(stores.temp / "timing")) {
    for (const char* text : {"not json", R"({"version": "0.0.0", "profile": {}})"}) {
      write_file_atomic(file.path(), std::string_view(text));
      EXPECT_FALSE(stores.store().load());
    }
  }
}

}  // namespace
}  // namespace moil::night
