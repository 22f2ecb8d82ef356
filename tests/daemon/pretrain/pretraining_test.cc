#include "daemon/pretrain/pretraining.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/files/file.h"
#include "daemon/pretrain/reconciliation.h"
#include "datasets/tables/csv_table.h"
#include "engine/io/model_json.h"
#include "engine/model/surgery.h"
#include "tests/daemon/night/support.h"

namespace moil::pretrain {
namespace {

using night::error_of;
using night::NumberImages;
using night::TempFolder;
using ::testing::HasSubstr;

// A small model, in steps of two samples.
PretrainingOptions of_small_model(const TempFolder& temp, int epochs) {
  PretrainingOptions options;
  options.model = temp / "model.json";
  write_model(options.model, night::small_bundle().description);
  options.trainer.epochs = epochs;
  options.trainer.batch = 2;
  return options;
}

std::string refusal(const data::SampleDataset& dataset, const PretrainingOptions& options,
                    const std::filesystem::path& out, ErrorCode code) {
  std::string text;
  EXPECT_EQ(error_of([&] { check_pretraining(dataset, options, out); }, &text), code);
  return text;
}

TEST(Pretraining, WhatWouldBeRefusedAfterwardsIsRefusedBefore) {
  const TempFolder temp;
  const NumberImages good({"a", "b"}, 4);
  PretrainingOptions options;
  const auto neither = refusal(good, options, temp / "out", ErrorCode::kInvalidArgument);
  EXPECT_THAT(neither, HasSubstr("numbers alone need neither"));
  options.model = "model.json";
  options.from = night::small_bundle();
  const auto both = refusal(good, options, temp / "out", ErrorCode::kInvalidArgument);
  EXPECT_THAT(both, HasSubstr("not with both"));
  options.from.reset();
  options.trainable_layers = 1;
  EXPECT_THAT(refusal(good, options, temp / "out", ErrorCode::kInvalidArgument),
              HasSubstr("--trainable-layers"));
  options.trainable_layers.reset();
  check_pretraining(good, options, temp / "out");
  EXPECT_TRUE(std::filesystem::is_directory(temp / "out"));

  const auto invalid = ErrorCode::kInvalidArgument;
  EXPECT_THAT(refusal(NumberImages({"a", "caf\xe9"}, 4), options, temp / "out", invalid),
              HasSubstr("UTF-8"));
  EXPECT_THAT(refusal(NumberImages({"a", ".."}, 4), options, temp / "out", invalid),
              HasSubstr("'..'"));
  EXPECT_THAT(refusal(NumberImages({"a"}, 4), options, temp / "out", invalid),
              HasSubstr("one class alone"));
  options.groups["mine"] = {"a", "z"};
  EXPECT_THAT(refusal(good, options, temp / "out", invalid), HasSubstr("\"z\""));
  options.groups.clear();

  std::filesystem::create_directories(temp / "out/model");
  EXPECT_THAT(refusal(good, options, temp / "out", ErrorCode::kAlreadyExists),
              HasSubstr("out/model"));
  write_file_atomic(temp / "file", std::string("in the way"));
  EXPECT_EQ(error_of([&] { check_pretraining(good, options, temp / "file/out"); }), ErrorCode::kIo);
}

TEST(Pretraining, WithNothingHeldOutAccuracyIsNotMeasured) {
  const TempFolder temp;
  PretrainingOptions options = of_small_model(temp, 1);
  options.groups["mine"] = {"b"};
  for (const std::size_t per_class : {3U, 8U}) {  // every fourth is held out
    bool measured = false;
    const auto result =
        pretrain(NumberImages({"a", "b"}, per_class), options, temp / "out",
                 {[&](const EpochReport& r) { measured = r.quality.has_value(); }, {}});
    EXPECT_EQ(measured, per_class == 8U);
    EXPECT_EQ(result.report.at("accuracy").is_null(), per_class == 3U);
    EXPECT_EQ(result.report.at("groups").at("mine").is_null(), per_class == 3U);
  }
}

TEST(Pretraining, FromAModelTheLastLayersLearnTheDatasClasses) {
  const TempFolder temp;
  const night::ModelBundle base = night::small_bundle();
  std::filesystem::create_directories(temp / "out");
  PretrainingOptions options;
  options.from = base;
  options.trainable_layers = 1;
  options.trainer.epochs = 2;
  options.trainer.batch = 2;
  std::int64_t maps = 0;
  const PretrainingEvents events{{}, [&](std::int64_t, std::int64_t all) { maps = all; }};
  const NumberImages data({"x", "y"}, 8);
  const night::ModelBundle made = pretrain(data, options, temp / "out", events).bundle;
  EXPECT_EQ(maps, static_cast<std::int64_t>(data.size()));
  EXPECT_TRUE(std::filesystem::is_empty(temp / "out")) << "feature maps go when it is done";
  EXPECT_EQ(made.labels, data.classes());
  const std::string classifier = find_classifier(base.description) + ".";
  for (const auto& [name, tensor] : base.weights) {
    const NamedTensor& now = made.weights.at(name);
    if (name.starts_with(classifier))
      EXPECT_NE(now.dims, tensor.dims) << name;
    else
      EXPECT_EQ(now.data, tensor.data) << name;
  }
}

// A user and an item, and what the user said of it.
std::string record(const std::string& user, const std::string& item, const std::string& stars) {
  return user + "," + item + "," + stars + "\n";
}

night::ModelBundle pretrained_on(const TempFolder& temp, const std::string& records,
                                 PretrainingOptions options) {
  write_file_atomic(temp / "t.csv", "user,item,label\n" + records);
  const data::CsvTable table(temp / "t.csv", {.label_column = "label", .split = {0, 0, false}});
  std::filesystem::create_directories(temp / "out");
  options.task = "predict";
  options.outputs = {"stars"};
  options.trainer.epochs = 2;
  options.trainer.batch = 2;
  return pretrain(table, std::move(options), temp / "out", {}).bundle;
}

std::vector<float> row_of(const night::ModelBundle& model, std::size_t number) {
  const NamedTensor& table = model.weights.at("table.weight");
  const auto width = static_cast<std::size_t>(table.dims.at(1));
  const auto begin = table.data.begin() + static_cast<std::ptrdiff_t>(number * width);
  return {begin, begin + static_cast<std::ptrdiff_t>(width)};
}

TEST(Pretraining, FromAModelOfIdsNewOnesGetRowsThatLearn) {
  const TempFolder temp;
  const night::ModelBundle base =
      pretrained_on(temp, record("ann", "1", "2.5") + record("bob", "2", "4.5"), {});
  EXPECT_EQ(base.kind->symbols(), 5);
  const std::string known = record("ann", "1", "3.5");
  const std::string fresh = record("zoe", "1", "1.5") + record("cy", "9", "5");
  for (const bool frozen : {false, true}) {
    PretrainingOptions options;
    options.from = base;
    if (frozen) options.trainable_layers = 1;
    const night::ModelBundle made = pretrained_on(temp, known + fresh, options);
    EXPECT_EQ(made.kind->to_json().at("ids"),
              nlohmann::json(
                  {"user=ann", "user=bob", "item=1", "item=2", "item=9", "user=cy", "user=zoe"}));
    EXPECT_EQ(table_rows(made.description, "table"), 8);
    EXPECT_EQ(made.weights.at("table.weight").dims.at(0), 8);
    EXPECT_EQ(row_of(made, 2), row_of(base, 2)) << "bob's, of whom nothing is told";
    for (const std::size_t row : {5, 6, 7}) EXPECT_NE(row_of(made, row), row_of(base, 0)) << row;
    EXPECT_EQ(made.weights.at("hidden.weight").data == base.weights.at("hidden.weight").data,
              frozen);
  }
}

TEST(Pretraining, FromAModelOfIdsKnownOnesGetNoneAgain) {
  const TempFolder temp;
  const std::string records = record("ann", "1", "2.5") + record("bob", "2", "4.5");
  PretrainingOptions options;
  options.from = pretrained_on(temp, records, {});
  const nlohmann::json kind = options.from->kind->to_json();
  EXPECT_EQ(pretrained_on(temp, records, options).kind->to_json(), kind);
}

// Each run measures which kernels are fastest; they differ in the last bits.
TEST(Pretraining, SamplesAreSeenInSeveralViews) {
  const TempFolder temp;
  PretrainingOptions options = of_small_model(temp, 2);
  std::vector<double> losses;
  for (const int views : {1, 1, 2}) {
    options.augmentation.views = views;
    const auto result = pretrain(NumberImages({"a", "b"}, 4), options, temp / "out", {});
    losses.push_back(result.report.at("curve").back().at("loss"));
  }
  EXPECT_NEAR(losses[0], losses[1], 1e-5);
  EXPECT_GT(std::abs(losses[0] - losses[2]), 1e-3);
}

TEST(Reconciliation, TheModelsNamesAreFoundOrTheOptionIsNamed) {
  const TempFolder temp;
  const std::vector<std::string> labels{"tench", "gold fish"}, ids{"n01", "n02"};
  ReconciliationSources sources;
  EXPECT_TRUE(reconcile_classes(labels, labels, sources).names.empty());
  EXPECT_EQ(reconcile_classes({"Gold_Fish"}, labels, sources).names.at("Gold_Fish"), "gold fish");
  std::string text;
  EXPECT_EQ(error_of([&] { (void)reconcile_classes(ids, labels, sources); }, &text),
            ErrorCode::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("\"n01\""));
  EXPECT_THAT(text, HasSubstr("--class-names FILE"));

  const std::string table = "n01\ttench\nn02\tgold fish\n";
  sources.inside = {"no table", table};
  EXPECT_EQ(reconcile_classes(ids, labels, sources).names.at("n01"), "tench");
  sources.inside.clear();
  std::filesystem::create_directories(temp / "model");
  write_file_atomic(temp / "model/a.txt", std::string("nothing"));
  write_file_atomic(temp / "model/names.tsv", table);
  sources.folders = {temp / "nowhere", temp / "model"};
  const Reconciled found = reconcile_classes(ids, labels, sources);
  EXPECT_EQ(found.names.at("n02"), "gold fish");
  EXPECT_THAT(found.by, HasSubstr("names.tsv"));

  sources.names = temp / "model/a.txt";  // the user's own word counts
  EXPECT_EQ(error_of([&] { (void)reconcile_classes(ids, labels, sources); }, &text),
            ErrorCode::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("a.txt"));
}

}  // namespace
}  // namespace moil::pretrain
