#include "daemon/night/data/silent_labels.h"

#include <gtest/gtest.h>

#include "base/json/json.h"

namespace moil::night {
namespace {

data::MixedSample recording(data::ClassId label, std::uint32_t parts,
                            std::vector<std::uint32_t> silent) {
  data::MixedSample sample{{data::Source::kLocal, 0}, {}, {label}, parts};
  sample.silent = std::move(silent);
  return sample;
}

TEST(SilentLabels, MostlySilentOnesAreNamed) {
  data::Mix mix;
  mix.classes = {"rooster", "rain", "knock"};
  mix.train = {recording(0, 4, {1, 2, 3}), recording(0, 4, {0, 1, 2}), recording(1, 4, {3}),
               recording(1, 4, {}), recording(2, 2, {0, 1})};
  mix.local_validation = {recording(0, 4, {}), recording(2, 2, {}), recording(2, 2, {})};
  const auto found = silent_labels(mix);
  ASSERT_EQ(found.size(), 2U) << to_json(found);
  EXPECT_EQ(found[0].label, "knock");
  EXPECT_EQ(found[0].silent, 1U) << "one that teaches nothing at all";
  EXPECT_EQ(found[1].label, "rooster");
  EXPECT_EQ(found[1].mostly_silent, 2U);
  EXPECT_EQ(found[1].samples, 3U);
  EXPECT_NE(silence_remark(found[1]).find("2 of 3 recordings of \"rooster\""), std::string::npos);
}

}  // namespace
}  // namespace moil::night
