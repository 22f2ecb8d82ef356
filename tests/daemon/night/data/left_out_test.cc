#include "daemon/night/data/left_out.h"

#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

const NumberImages kGlobal({"a", "b"}, 8);
const NumberImages kLocal({"x", "y"}, 4, 1000);

data::Mix draw(const LeftOut& left_out = {}) {
  return data::mix(kGlobal, kLocal, {}, 0.5, 7, digests_of(left_out));
}

// The local samples of a mix, as if none could be read.
UnreadableSamples locals(const data::Mix& mix) {
  UnreadableSamples unreadable;
  for (const auto* list : {&mix.train, &mix.local_validation})
    for (const auto& sample : *list)
      if (sample.ref.source == data::Source::kLocal)
        unreadable.push_back({&sample, "photo " + std::to_string(sample.ref.index), "torn"});
  return unreadable;
}

TEST(LeftOut, NamesSamplesAsTheUserKnowsThem) {
  const data::Mix mix = draw();
  const LeftOut left_out = left_out_of(locals(mix), mix, kGlobal, kLocal);
  ASSERT_EQ(left_out.size(), 8U);
  EXPECT_EQ(left_out[0].labels, (std::vector<std::string>{"x"}));
  EXPECT_FALSE(left_out[0].held_out);
  EXPECT_TRUE(left_out.back().held_out);
  EXPECT_EQ(left_out.back().labels, (std::vector<std::string>{"y"}));
  EXPECT_EQ(left_out[0].source, data::Source::kLocal);
  EXPECT_EQ(left_out[0].why, "torn");
}

TEST(LeftOut, RoundTripAndTheFirstOnly) {
  const data::Mix mix = draw();
  const LeftOut left_out = left_out_of(locals(mix), mix, kGlobal, kLocal);
  const LeftOut again = left_out_from_json(to_json(left_out));
  EXPECT_EQ(to_json(again), to_json(left_out));
  EXPECT_EQ(digests_of(again), digests_of(left_out));
  EXPECT_EQ(to_json(left_out, 3).size(), 3U);
}

TEST(LeftOut, ANightWithoutASampleToTrainOnFailsWithTheNames) {
  const data::Mix mix = draw();
  LeftOut left_out = left_out_of(locals(mix), mix, kGlobal, kLocal);
  std::string text;
  EXPECT_EQ(error_of([&] { require_enough(draw(left_out), left_out); }, &text),
            ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("photo 0 (sample "), std::string::npos) << text;
  EXPECT_NE(text.find("): torn"), std::string::npos) << text;
  EXPECT_NE(text.find("and 1 more"), std::string::npos) << text;
  left_out.erase(left_out.begin());
  EXPECT_NO_THROW(require_enough(draw(left_out), left_out));
}

}  // namespace
}  // namespace moil::night
