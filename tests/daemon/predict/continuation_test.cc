#include "daemon/predict/continuation.h"

#include <gmock/gmock.h>

#include "base/json/json.h"
#include "engine/model/initial_weights.h"
#include "engine/train/tasks/sequence.h"
#include "tests/errors.h"

namespace moil::night {
namespace {

Property number(std::int64_t value) { return value; }

// Of eight places and the letters a, b and c; another letter and padding are symbols, too.
ModelBundle letters() {
  constexpr std::int64_t kSymbols = 5;
  ModelBundle bundle;
  bundle.description = {
      "letters",
      {{"symbols", {8}, ElementType::kInt32}},
      {{"table", "embedding", {"symbols"}, {{"rows", number(kSymbols)}, {"width", number(4)}}},
       {"lstm", "lstm", {"table"}, {{"units", number(6)}}},
       {"next", "fully_connected", {"lstm"}, {{"units", number(kSymbols)}}}},
      {"next"}};
  bundle.weights = initial_weights(build_graph(bundle.description, 1), 1);
  bundle.kind =
      data::kind_from_json({{"kind", "tokens"}, {"length", 8}, {"vocabulary", {"a", "b", "c"}}});
  bundle.task = sequence_task(kSymbols, 1);
  return bundle;
}

class Continued : public ::testing::Test {
 protected:
  ModelBundle bundle_ = letters();
  KernelSelector kernels_{KernelSelector::Options()};
  Continuation continuation_{bundle_, 2, kernels_};
};

TEST_F(Continued, GoesOnWithTheEndOfTheText) {
  const Json found = continuation_.of("abcabc");
  EXPECT_EQ(found["top"].size(), 2U);
  EXPECT_GE(found["top"][0]["probability"], found["top"][1]["probability"]);
  EXPECT_TRUE(found["continuation"].get<std::string>().starts_with(
      found["top"][0]["label"].get<std::string>()));
  EXPECT_GT(found["bits_per_symbol"], 0);
  const std::string before(100, 'c');
  EXPECT_EQ(continuation_.of(before + "abcabcab")["continuation"],
            continuation_.of("abcabcab")["continuation"])
      << "of more than the network sees the end counts";
}

TEST_F(Continued, OneSymbolTellsNothingOfHowWellItIsKnown) {
  EXPECT_EQ(continuation_.of("a")["bits_per_symbol"], nullptr);
  test::expect_error(ErrorCode::kBadData, "no text", [&] { (void)continuation_.of(""); });
}

TEST_F(Continued, TakesWhatIsNoTextAndWhatIsLong) {
  for (const std::string& text : {std::string(500, '\x80'), std::string(500, '\xff'),
                                  std::string("a\0b", 3), std::string(200'000, 'b')})
    EXPECT_FALSE(continuation_.of(text).at("continuation").dump().empty());
}

}  // namespace
}  // namespace moil::night
