// What a model tells of the labels in a state folder.
#include "daemon/study/label_study.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <atomic>

#include "base/sqlite/database.h"
#include "daemon/models/model_folder.h"
#include "daemon/night/night_job.h"
#include "daemon/spec/job_result.h"
#include "daemon/study/labelled_features.h"
#include "datasets/labels/label_store.h"
#include "featurecache/cache.h"
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

  void add_unlabelled() const {
    data::LabelStore labels(place_.layout().labels(), data::LabelStore::Access::kReadWrite);
    for (const int value : {30, 31, 230}) (void)labels.add_sample(grey(value), {});
  }
  daemon::JobFile file_with(const std::string& dtype) const {
    Json description = place_.description();
    description["cache"]["dtype"] = dtype;
    description["freeze"]["trainable_layers"] = 1;
    return place_.job_file(daemon::job_spec_from_json(description), 7);
  }
  // What all three studies say.
  Json said(const daemon::JobFile& file) const {
    return {audit_labels(place_.layout(), file, 10), suggest_labels(place_.layout(), file, 10),
            meanings_of_labels(place_.layout(), file)};
  }
  void lose_contents() const {
    Database database(place_.layout().labels() / "labels.db", Database::Access::kReadWrite);
    Statement(database, "UPDATE samples SET content = zeroblob(length(content))").run();
  }
  std::uint64_t entries() const {
    if (!std::filesystem::exists(place_.layout().cache())) return 0;
    return cache::FeatureCache(place_.layout().cache()).stats().entries;
  }
  // The result of a night beside what is in the cache.
  Json cache_of_night(const daemon::JobFile& file) const {
    std::filesystem::create_directories(place_.layout().job(file.id));
    const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    daemon::EventWriter events(nowhere.get());
    const std::atomic<bool> stop{false};
    EXPECT_TRUE(run_night(place_.layout(), file, events, stop));
    return daemon::finished_result(place_.layout(), file.id, file.spec.model, file.version)
        .value()
        .at("details")
        .at("cache");
  }

  static constexpr std::uint64_t kLabelled = 14;
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

TEST_F(LabelStudy, PassesOverWhatIsOnlyDenied) {
  const Json before = audit_labels(place_.layout(), file(), 10),
             meant = meanings_of_labels(place_.layout(), file());
  {
    data::LabelStore labels(place_.layout().labels(), data::LabelStore::Access::kReadWrite);
    (void)add_looked_at(labels, grey(61), "!dark");
  }
  const Json audit = audit_labels(place_.layout(), file(), 10);
  EXPECT_EQ(audit["samples"], before["samples"].get<int>() + 1);
  for (const char* same : {"labels", "judged", "single", "alike", "wrong_count"})
    EXPECT_EQ(audit[same], before[same]) << same;
  EXPECT_EQ(meanings_of_labels(place_.layout(), file()), meant);
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

TEST_F(LabelStudy, TheNextLookComputesNothingAgain) {
  add_unlabelled();
  for (const char* dtype : {"fp32", "bf16"}) {
    const std::uint64_t before = entries();
    const Json first = said(file_with(dtype));
    EXPECT_EQ(entries(), before + kLabelled + 3) << dtype;
    EXPECT_EQ(said(file_with(dtype)), first) << "the same, computed or kept, as " << dtype;
  }
  const Json before = said(file_with("bf16"));
  lose_contents();
  EXPECT_EQ(said(file_with("bf16")), before) << "no sample is read again";
}

TEST_F(LabelStudy, ANightFindsWhatALookComputed) {
  for (const char* dtype : {"fp32", "bf16"}) {
    std::filesystem::remove_all(place_.layout().cache());
    const daemon::JobFile file = file_with(dtype);
    (void)audit_labels(place_.layout(), file, 10);
    const Json cache = cache_of_night(file);
    EXPECT_EQ(cache["reused"], kLabelled) << cache;
    std::filesystem::remove_all(place_.layout().job(file.id));
    std::filesystem::remove_all(place_.layout().version("small", file.version));
  }
}

TEST_F(LabelStudy, TakesNoRoomFromNights) {
  daemon::JobFile file = file_with("fp32");
  (void)cache_of_night(file);
  const std::uint64_t nights = entries();
  const std::uint64_t held = cache::FeatureCache(place_.layout().cache()).stats().bytes;
  add_unlabelled();
  file.cache_quota_bytes = static_cast<std::int64_t>(held);
  const Json first = suggest_labels(place_.layout(), file, 10);
  EXPECT_EQ(first["suggestions"].size(), 3U);
  EXPECT_EQ(entries(), nights) << "half of the quota is for nights, and what they left stays";
  file.cache_quota_bytes = static_cast<std::int64_t>(4 * held);
  EXPECT_EQ(suggest_labels(place_.layout(), file, 10), first);
  EXPECT_EQ(entries(), nights + 3);
}

TEST_F(LabelStudy, KeepsNothingWhereTheJobKeepsNothing) {
  daemon::JobFile file = file_with("fp32");
  file.spec.cache.enabled = false;
  EXPECT_EQ(audit_labels(place_.layout(), file, 10)["samples"], kLabelled);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(LabelStudy, KeepsNothingOfWhatIsForgottenMeanwhile) {
  const daemon::JobFile file = file_with("fp32");
  const StudiedModel model(place_.layout(), file);
  const data::LabelDataset samples(model.store, *model.model.kind);
  bool is_forgotten = false;
  (void)model.features(samples, [&](const data::MixedSample&, std::uint32_t, auto) {
    if (std::exchange(is_forgotten, true)) return;  // what was computed waits to be stored
    data::LabelStore(place_.layout().labels(), data::LabelStore::Access::kReadWrite)
        .forget(data::Digest::from_hex(wrong_));
  });
  EXPECT_EQ(entries(), kLabelled - 1);
}

TEST_F(LabelStudy, ProposesLabelsForWhatHasNone) {
  add_unlabelled();
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

TEST_F(LabelStudy, WhatTheModelIsNotSureOfMayBeSomethingElse) {
  add_unlabelled();
  const auto may_be = [&](double not_sure_below) {
    write_calibration(place_.layout().version("small", 1), {1, not_sure_below, 30});
    return suggest_labels(place_.layout(), file(), 1)["suggestions"][0]["something_else"];
  };
  EXPECT_EQ(may_be(1), true);
  EXPECT_EQ(may_be(0), false);
}

TEST_F(LabelStudy, TellsOfEachSampleBeforeAllAreRead) {
  data::LabelStore labels(place_.layout().labels(), data::LabelStore::Access::kReadWrite);
  std::vector<std::string> added;
  for (int i = 0; i < 120; ++i) added.push_back(labels.add_sample(grey(2 * i), {}).digest.hex());
  std::erase_if(added, [&](const std::string& digest) {  // some are labelled already
    return !labels.find(data::Digest::from_hex(digest))->labels.empty();
  });
  std::vector<std::string> told;
  std::map<std::string, Json> said;
  std::size_t portions = 0;
  const auto portion = [&](const Json& some) {
    ++portions;
    EXPECT_LT(Json({{"event", "suggestions"}, {"suggestions", some}}).dump().size(),
              daemon::kMostLineBytes);
    for (const Json& one : some) {
      told.push_back(one["digest"]);
      said[told.back()] = one["proposals"];
    }
  };
  const Json found = suggest_labels(place_.layout(), file(), 1000, {}, portion);
  EXPECT_EQ(told, added) << "each once, in the order in which they came";
  EXPECT_GT(portions, 3U);
  EXPECT_FALSE(found["tags"].get<bool>());
  for (const Json& one : found["suggestions"])
    EXPECT_EQ(said[one["digest"]], one["proposals"]) << "what was told first holds";
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
