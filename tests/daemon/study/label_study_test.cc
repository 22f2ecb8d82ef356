// What a model tells of the labels in a state folder.
#include "daemon/study/label_study.h"

#include <gmock/gmock.h>

#include "datasets/labels/label_store.h"
#include "tests/daemon/night/job_place.h"

namespace moil::night {
namespace {

// Images of one grey each: dark ones are "dark", bright ones "bright".
std::vector<std::uint8_t> grey(int value) {
  data::Image image;
  image.resize(8, 8, 1);
  for (std::size_t p = 0; p < 64; ++p)
    image.pixels[p] = static_cast<std::uint8_t>(value + static_cast<int>(p * p * 7) % 9);
  return data::encode_png(image);
}

class LabelStudy : public ::testing::Test {
 protected:
  LabelStudy() {
    data::LabelStore labels(place_.layout().labels(), data::LabelStore::Access::kReadWrite);
    const auto add = [&](int value, const std::string& label) {
      return add_looked_at(labels, grey(value), label).hex();
    };
    for (const char* old : {"new", "c"}) labels.remove_label(old, /*with_samples=*/true);
    for (int i = 0; i < 12; ++i) {
      const bool is_dark = i % 2 == 0;
      (void)add(is_dark ? 10 + 3 * i : 200 + 3 * i, is_dark ? "dark" : "bright");
    }
    wrong_ = add(214, "dark");
    (void)add(120, "lonely");
  }

  daemon::JobFile file() const {
    daemon::JobSpec spec = daemon::job_spec_from_json(place_.description());
    spec.freeze.trainable_layers.count = 1;
    return place_.job_file(spec, 1);
  }

  JobPlace place_;
  std::string wrong_;  // bright, labelled dark
};

TEST_F(LabelStudy, FindsAWrongLabelAndALonelyOne) {
  const Json found = audit_labels(place_.layout(), file(), 10);
  ASSERT_GE(found["wrong"].size(), 1U) << found;
  EXPECT_EQ(found["wrong"][0]["digest"], wrong_);
  EXPECT_EQ(found["wrong"][0]["labels"], Json({"dark"}));
  EXPECT_EQ(found["wrong"][0]["looks_like"], "bright");
  ASSERT_EQ(found["single"].size(), 1U);
  EXPECT_EQ(found["single"][0]["labels"], Json({"lonely"}));
  EXPECT_EQ(found["samples"], 14);
}

TEST_F(LabelStudy, ListsNoMoreThanAskedFor) {
  const Json found = audit_labels(place_.layout(), file(), 1);
  EXPECT_EQ(found["wrong"].size(), 1U);
  EXPECT_GE(found["wrong_count"], 1);
}

TEST_F(LabelStudy, SaysTheSameFromTheCache) {
  const Json before = audit_labels(place_.layout(), file(), 10);
  Json description = place_.description();
  description["freeze"]["trainable_layers"] = 1;
  (void)place_.run(place_.submitted(description));
  EXPECT_EQ(audit_labels(place_.layout(), file(), 10)["wrong_count"], before["wrong_count"]);
}

TEST_F(LabelStudy, ProposesLabelsForWhatHasNone) {
  {
    data::LabelStore labels(place_.layout().labels(), data::LabelStore::Access::kReadWrite);
    for (const int value : {30, 31, 230}) (void)labels.add_sample(grey(value), {});
  }
  const Json found = suggest_labels(place_.layout(), file(), 2);
  EXPECT_EQ(found["unlabelled"], 3);
  ASSERT_EQ(found["suggestions"].size(), 2U);
  double before = 1;
  for (const Json& proposal : found["suggestions"][0]["proposals"]) {
    EXPECT_LE(proposal["probability"].get<double>(), before);
    before = proposal["probability"].get<double>();
  }
  EXPECT_EQ(found["suggestions"][0]["proposals"].size(), 3U);
}

TEST_F(LabelStudy, TellsWhatTheModelCallsALabel) {
  const Json found = meanings_of_labels(place_.layout(), file());
  ASSERT_EQ(found["labels"].size(), 3U);
  for (const Json& label : found["labels"]) {
    double sum = 0;
    for (const Json& candidate : label["candidates"]) sum += candidate["probability"].get<double>();
    EXPECT_GT(sum, 0.5) << "of a, b and c, which are all that the model knows";
    EXPECT_LT(sum, 1.001);
  }
}

}  // namespace
}  // namespace moil::night
