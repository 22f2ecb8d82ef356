#include "daemon/night/judge/accuracy_record.h"

#include "base/files/file.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

TEST(AccuracyRecord, KeepsFiguresOfASetOfSamples) {
  const TempFolder temp;
  const auto file = temp / "accuracy" / "pets.json";
  EXPECT_FALSE(AccuracyRecord(file, "one").of(1));
  AccuracyRecord(file, "one").keep(1, 0.453);
  AccuracyRecord(file, "one").keep(2, 0.406);
  AccuracyRecord(file, "two").keep(1, 0.9);
  EXPECT_EQ(AccuracyRecord(file, "one").of(1), 0.453);
  EXPECT_EQ(AccuracyRecord(file, "one").of(2), 0.406);
  EXPECT_EQ(AccuracyRecord(file, "two").of(1), 0.9);
  EXPECT_FALSE(AccuracyRecord(file, "two").of(2)) << "of other samples";
}

TEST(AccuracyRecord, ForgetsTheSetThatWasUsedLongestAgo) {
  const TempFolder temp;
  const auto file = temp / "pets.json";
  for (int set = 0; set < 8; ++set) AccuracyRecord(file, std::to_string(set)).keep(1, 0.5);
  AccuracyRecord(file, "0").keep(2, 0.6);
  AccuracyRecord(file, "8").keep(1, 0.7);
  EXPECT_FALSE(AccuracyRecord(file, "1").of(1));
  EXPECT_EQ(AccuracyRecord(file, "0").of(1), 0.5);
  EXPECT_EQ(AccuracyRecord(file, "8").of(1), 0.7);
}

TEST(AccuracyRecord, ADamagedFileIsAsIfItWereNotThere) {
  const TempFolder temp;
  const auto file = temp / "pets.json";
  AccuracyRecord(file, "one").keep(1, 0.5);
  const std::string good = read_text(file);
  for (const std::string& text : {good.substr(0, good.size() / 2), std::string("[]"),
                                  std::string(R"({"version": 3, "entries": 4})")}) {
    write_file_atomic(file, text);
    EXPECT_FALSE(AccuracyRecord(file, "one").of(1));
  }
  AccuracyRecord(file, "one").keep(1, 0.5);
  EXPECT_EQ(AccuracyRecord(file, "one").of(1), 0.5);
}

// Whatever changes what an accuracy is of.
TEST(HeldOutFingerprint, IsOfSamplesAndTheirClasses) {
  data::Mix mix;
  mix.classes = {"a", "b"};
  data::MixedSample sample;
  sample.digest = data::digest_of("photo");
  sample.labels = {0};
  mix.global_validation = {sample};
  const std::string one = held_out_fingerprint(mix);
  EXPECT_EQ(held_out_fingerprint(mix), one);
  mix.train = mix.local_validation = mix.global_validation;
  EXPECT_EQ(held_out_fingerprint(mix), one) << "of global samples alone";
  mix.global_validation[0].labels = {1};
  EXPECT_NE(held_out_fingerprint(mix), one);
  mix.global_validation[0].labels = {0};
  mix.global_validation.push_back(sample);
  EXPECT_NE(held_out_fingerprint(mix), one);
}

}  // namespace
}  // namespace moil::night
