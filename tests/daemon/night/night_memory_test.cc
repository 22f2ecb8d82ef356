// What a whole night takes, on models whose weights outweigh everything else.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <atomic>

#include "base/files/unique_fd.h"
#include "base/process_memory.h"
#include "daemon/night/night_job.h"
#include "daemon/night/night_plan.h"
#include "daemon/spec/job_result.h"
#include "datasets/kinds/rows/rows_kind.h"
#include "datasets/labels/label_store.h"
#include "datasets/pack/sample_pack.h"
#include "tests/daemon/night/support.h"
#include "tests/plain_build.h"

namespace moil::night {
namespace {

constexpr double kMiB = 1 << 20;
// The large layer's, 2048 x 7680; what the others have is below a hundredth of it.
constexpr double kLarge = 60 * kMiB;

ModelBundle large_bundle() {
  ModelBundle bundle = small_bundle();
  bundle.description = parse_model(R"({"format":"moil-model","version":1,"name":"large",
    "inputs":[{"name":"image","dims":[1,8,8]}],
    "layers":[
     {"name":"flat","type":"flatten","inputs":["image"]},
     {"name":"f1","type":"fully_connected","inputs":["flat"],"properties":{"units":2048}},
     {"name":"r1","type":"relu","inputs":["f1"]},
     {"name":"f2","type":"fully_connected","inputs":["r1"],"properties":{"units":7680}},
     {"name":"r2","type":"relu","inputs":["f2"]},
     {"name":"classifier","type":"fully_connected","inputs":["r2"],"properties":{"units":3}}],
    "outputs":["classifier"]})");
  bundle.weights = initial_weights(build_graph(bundle.description, 1), 5);
  return bundle;
}

class NightMemoryTest : public ::testing::Test {
 protected:
  NightMemoryTest() {
    return_freed_memory();  // as the worker does
    {
      const ModelBundle bundle = large_bundle();
      std::filesystem::create_directories(layout_.model("large"));
      write_model_folder(layout_.version("large", 1), bundle);
      data::write_sample_pack(temp_ / "pack", NumberImages({"a", "b", "c"}, 16), bundle.kind);
    }
    add_samples(16, 500);
    std::filesystem::create_directories(layout_.job(1));
    file_.id = 1;
    file_.base_version = 1;
    file_.version = 2;
    file_.cache_quota_bytes = 1 << 30;
    file_.spec.name = "night";
    file_.spec.model = "large";
    file_.spec.global.pack = temp_ / "pack";
    file_.spec.global.alpha = 1;
    file_.spec.train.epochs = 1;
    file_.spec.train.batch = 8;
    file_.spec.train.optimizer.learning_rate = 1e-3;
    file_.spec.guard = {1, 0};
  }

  void add_samples(std::size_t count, std::size_t first) {
    data::LabelStore store(layout_.labels(), data::LabelStore::Access::kReadWrite);
    const NumberImages images({"new"}, count, first);
    for (std::size_t i = 0; i < images.size(); ++i)
      add_looked_at(store, images.encoded(i), "new", images.split(i));
  }

  Json run() {
    const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    daemon::EventWriter events(nowhere.get());
    if (!run_night(layout_, file_, events, stop_))
      throw Error(ErrorCode::kInternal, "the night was stopped");
    const Json result =
        daemon::finished_result(layout_, file_.id, file_.spec.model, file_.version).value();
    EXPECT_TRUE(result.at("promoted").get<bool>());
    return result.at("details");
  }

  // The night's peak, which its forecast and the plan before it held.
  double peak(const Json& details, double most_above = 48 * kMiB) {
    const double measured = details.at("memory").at("measured_bytes");
    const double predicted = details.at("memory").at("predicted_bytes");
    EXPECT_GT(measured, kLarge);
    EXPECT_LE(measured, predicted);
    EXPECT_LE(predicted, measured + most_above) << "the forecast is far above what is used";
    const double planned = plan_job(layout_, file_, {}).at("predicted_bytes");
    EXPECT_NEAR(planned, predicted, 0.02 * predicted);
    return measured;
  }

  TempFolder temp_;
  daemon::StateLayout layout_{temp_ / "state"};
  daemon::JobFile file_;
  std::atomic<bool> stop_ = false;
};

// Once as it is read, and once as it is packed; nothing of it while the head trains.
TEST_F(NightMemoryTest, FrozenWeightsAreThereOnce) {
  MOIL_NEEDS_TRUE_MEMORY();
  file_.spec.freeze.trainable_layers.count = 1;
  const Json details = run();
  EXPECT_LE(peak(details), 2 * kLarge + 24 * kMiB);
  EXPECT_LE(details.at("memory").at("training_peak_bytes").get<double>(), 0.5 * kLarge);
}

// Weights, momentum and gradients, which the plan counts, and nothing beside them.
TEST_F(NightMemoryTest, TrainedWeightsAreThereOnce) {
  MOIL_NEEDS_TRUE_MEMORY();
  const double plain = [&] {
    const Json details = run();
    EXPECT_NEAR(details.at("memory").at("training_plan_bytes").get<double>(), 3 * kLarge, 8 * kMiB);
    return peak(details);
  }();
  EXPECT_LE(plain, 3 * kLarge + 32 * kMiB);
}

// The network that judges after each epoch is beside the one that trains.
TEST_F(NightMemoryTest, JudgingEachEpochIsPartOfTheForecast) {
  MOIL_NEEDS_TRUE_MEMORY();
  file_.spec.evaluate_every_epoch = true;
  EXPECT_LE(peak(run()), 5 * kLarge + 32 * kMiB);
}

// A trial may train far more than the night that is chosen by it.
TEST_F(NightMemoryTest, TrialsArePartOfTheForecast) {
  MOIL_NEEDS_TRUE_MEMORY();
  add_samples(48, 900);  // of fewer nothing is tried
  Json description = daemon::to_json(file_.spec);
  description["settings"] = "auto";
  description.erase("freeze");
  description["train"]["optimizer"].erase("learning_rate");
  file_.spec = daemon::job_spec_from_json(description);
  ASSERT_TRUE(file_.spec.open.contains("/freeze/trainable_layers"));
  const Json details = run();
  ASSERT_GE(details.at("auto").at("trials").size(), 2U);
  // Weights that a judge is given come in one after the other here: it needs less than twice them.
  EXPECT_GT(peak(details, 48 * kMiB + kLarge), 2.5 * kLarge) << "no trial trained all layers";
}

// Windows of 16 numbers.
ModelBundle rows_bundle() {
  ModelBundle bundle = small_bundle(2);
  bundle.description = parse_model(R"({"format":"moil-model","version":1,"name":"rows",
    "inputs":[{"name":"numbers","dims":[16,1]}],
    "layers":[
     {"name":"flat","type":"flatten","inputs":["numbers"]},
     {"name":"f1","type":"fully_connected","inputs":["flat"],"properties":{"units":32}},
     {"name":"r1","type":"relu","inputs":["f1"]},
     {"name":"classifier","type":"fully_connected","inputs":["r1"],"properties":{"units":2}}],
    "outputs":["classifier"]})");
  bundle.weights = initial_weights(build_graph(bundle.description, 1), 5);
  bundle.kind = data::rows_kind({{16, 1}, {0}, {1}, 16});
  return bundle;
}

// CSV of 32 lines; every one differs.
class Recordings : public data::TableDataset<data::SampleDataset> {
 public:
  Recordings() {
    table_ = data::SampleTable(std::vector<std::string>{"a", "b"});
    for (std::size_t i = 0; i < 32; ++i)
      table_.add({static_cast<data::ClassId>(i % 2)},
                 i % 8 > 5 ? data::Split::kValidation : data::Split::kTrain);
  }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    std::string text;
    for (std::size_t line = 0; line < 32; ++line)
      text += std::to_string((i + 3) * (line + 1) % 17) + "\n";
    return {text.begin(), text.end()};
  }
  data::Digest digest(std::size_t i) const override { return data::digest_of(encoded(i)); }
  std::string name(std::size_t i) const override { return "recording " + std::to_string(i); }
};

// A table of one line, as large as half of the budget: it is never read, and the night keeps its
// budget.
TEST_F(NightMemoryTest, ASampleThatTakesMoreThanTheBudgetIsLeftOutAndCostsNothing) {
  MOIL_NEEDS_TRUE_MEMORY();
  constexpr double kBudget = 80 * kMiB;
  std::filesystem::create_directories(layout_.model("rows"));
  write_model_folder(layout_.version("rows", 1), rows_bundle());
  data::write_sample_pack(temp_ / "tables", Recordings(), rows_bundle().kind);
  {
    data::LabelStore store(layout_.labels(), data::LabelStore::Access::kReadWrite);
    const auto add = [&](const std::string& text) {
      add_looked_at(store, std::vector<std::uint8_t>(text.begin(), text.end()), "new",
                    data::Split::kTrain);
    };
    for (int i = 0; i < 5; ++i) {
      std::string small;
      for (int line = 0; line < 32; ++line) small += std::to_string(100 + i * line) + "\n";
      add(small);
    }
    std::string large;
    while (large.size() < (40 << 20)) large += "1,";
    add(large + "1\n");
  }
  return_freed_memory();
  file_.spec.model = "rows";
  file_.spec.global.pack = temp_ / "tables";
  file_.spec.freeze.trainable_layers.count = 1;
  file_.spec.memory.budget_bytes = static_cast<std::int64_t>(kBudget);
  const Json details = run();
  ASSERT_EQ(details.at("samples").at("left_out"), 1);
  const std::string why = details.at("left_out").dump();
  EXPECT_NE(why.find("decoding it takes"), std::string::npos) << why;
  EXPECT_LE(details.at("memory").at("measured_bytes").get<double>(), kBudget);
}

TEST_F(NightMemoryTest, TheNewVersionHasWhatWasTrainedAndWhatWasNot) {
  file_.spec.freeze.trainable_layers.count = 1;
  (void)run();
  const ModelBundle before = read_model_folder(layout_.version("large", 1));
  const ModelBundle after = read_model_folder(layout_.version("large", 2));
  EXPECT_EQ(after.labels, (std::vector<std::string>{"a", "b", "c", "new"}));
  EXPECT_EQ(after.weights.at("f2.weight").data, before.weights.at("f2.weight").data);
  EXPECT_NE(after.weights.at("classifier.bias").data, before.weights.at("classifier.bias").data);
  EXPECT_FALSE(std::filesystem::exists(layout_.incoming("large", 2)));
}

}  // namespace
}  // namespace moil::night
