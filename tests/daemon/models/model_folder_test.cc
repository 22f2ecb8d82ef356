#include "daemon/models/model_folder.h"

#include <sys/stat.h>

#include <functional>
#include <limits>

#include "base/files/file.h"
#include "daemon/models/import.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

class ModelFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { write_model_folder(folder_, bundle_); }
  ErrorCode read_error(std::string* text) {
    return error_of([&] { (void)read_model_folder(folder_); }, text);
  }
  void expect_bad(const std::string& words) {
    std::string text;
    EXPECT_EQ(read_error(&text), ErrorCode::kBadData);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
  // Once it is changed, and written anew.
  void expect_bad(const std::function<void(ModelBundle&)>& change, const std::string& words) {
    ModelBundle other = small_bundle();
    change(other);
    std::filesystem::remove_all(folder_);
    write_model_folder(folder_, other);
    expect_bad(words);
  }

  TempFolder temp_;
  std::filesystem::path folder_ = temp_ / "model";
  ModelBundle bundle_ = small_bundle();
};

TEST_F(ModelFolderTest, RoundTrip) {
  const ModelBundle read = read_model_folder(folder_);
  EXPECT_EQ(format_model(read.description), format_model(bundle_.description));
  EXPECT_EQ(read.labels, bundle_.labels);
  EXPECT_EQ(read.kind->to_json(), bundle_.kind->to_json());
  ASSERT_EQ(read.weights.size(), bundle_.weights.size());
  for (const auto& [name, tensor] : bundle_.weights)
    EXPECT_EQ(read.weights.at(name).data, tensor.data) << name;
}

TEST_F(ModelFolderTest, ModelsAreCompleted) {
  LayerDescription& last = bundle_.description.layers.back();
  last.properties["activation"] = "softmax";
  write_model_folder(temp_ / "brief", bundle_);
  const ModelDescription read = read_model_folder(temp_ / "brief").description;
  EXPECT_EQ(read.layers.size(), bundle_.description.layers.size() + 1);
  EXPECT_EQ(read.outputs, std::vector{last.name + "/activation"});
}

TEST_F(ModelFolderTest, RefusesToOverwrite) {
  EXPECT_EQ(error_of([&] { write_model_folder(folder_, bundle_); }), ErrorCode::kAlreadyExists);
}

TEST_F(ModelFolderTest, IsWrittenByAnyName) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.parent_path());
  write_model_folder("beside", bundle_);
  std::filesystem::current_path(before);
  EXPECT_EQ(read_model_folder(folder_.parent_path() / "beside").labels, bundle_.labels);
}

TEST_F(ModelFolderTest, NoFolder) {
  EXPECT_EQ(error_of([&] { (void)read_model_folder(temp_ / "nothing"); }), ErrorCode::kNotFound);
}

TEST_F(ModelFolderTest, LabelsAreJsonAndNameEachClassOnce) {
  for (const auto& [labels, words] :
       {std::pair{R"(["a", "b"])", "names 2 classes; the model has 3"},
        {R"(["a", "b", "a"])", "twice"},
        {R"(["a", "b)", "labels.json"}}) {
    write_file_atomic(folder_ / "labels.json", std::string_view(labels));
    expect_bad(words);
  }
}

TEST_F(ModelFolderTest, WhatDoesNotFitTheDescriptionIsNamed) {
  expect_bad([](ModelBundle& b) { b.weights.at("c2.weight").dims = {8, 12, 1, 1}; }, "c2.weight");
  expect_bad([](ModelBundle& b) { b.kind = grey_images(16); }, "preprocessing.json");
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()})
    expect_bad([&](ModelBundle& b) { b.weights.at("c2.weight").data.back() = bad; },
               "\"c2.weight\" has values that are no finite numbers");
}

TEST_F(ModelFolderTest, ImportPutsAVersionInPlace) {
  const daemon::StateLayout layout(temp_ / "state");
  const auto result = import_model({folder_, "", "small", 1}, layout);
  EXPECT_NE(result.summary.find("3 labels"), std::string::npos) << result.summary;
  EXPECT_EQ(read_model_folder(layout.version("small", 1)).labels, bundle_.labels);
  EXPECT_FALSE(std::filesystem::exists(layout.incoming("small", 1)));
}

TEST_F(ModelFolderTest, ImportOfABadModelLeavesNothing) {
  std::filesystem::remove(folder_ / "weights.safetensors");
  const daemon::StateLayout layout(temp_ / "state");
  EXPECT_EQ(error_of([&] {
              (void)import_model({folder_, "", "small", 1}, layout);
            }),
            ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(layout.models()));
}

// Four workers that wait for a pipe were all that predict has.
TEST_F(ModelFolderTest, PipesAreRefusedAtOnce) {
  for (const char* name :
       {"model.json", "weights.safetensors", "labels.json", "preprocessing.json"}) {
    std::filesystem::rename(folder_ / name, folder_ / "kept");
    ASSERT_EQ(::mkfifo((folder_ / name).c_str(), 0600), 0);
    std::string text;
    EXPECT_EQ(read_error(&text), ErrorCode::kIo);
    EXPECT_NE(text.find(name), std::string::npos) << text;
    std::filesystem::rename(folder_ / "kept", folder_ / name);
  }
  EXPECT_EQ(read_model_folder(folder_).labels, bundle_.labels);
}

TEST_F(ModelFolderTest, KeepsFromWhenLabelsAreTold) {
  LabelLevels level{60, 40, std::vector<double>(12, 0.25), {0.75}};
  bundle_.listening = {{bundle_.labels.front(), level}};
  write_model_folder(temp_ / "ears", bundle_);
  EXPECT_EQ(read_model_folder(temp_ / "ears").listening, bundle_.listening);
  EXPECT_EQ(open_model_folder(temp_ / "ears").listening, bundle_.listening);
  write_file_atomic(temp_ / "ears" / "listening.json", "{\"labels\": 7}\n");
  EXPECT_EQ(error_of([&] { (void)read_model_folder(temp_ / "ears"); }), ErrorCode::kBadData);
}

TEST_F(ModelFolderTest, AFinalSigmoidIsSpokenOf) {
  bundle_.description.layers.back().properties["activation"] = "sigmoid";
  write_model_folder(temp_ / "tags", bundle_);
  const daemon::StateLayout layout(temp_ / "state");
  const auto result = import_model({temp_ / "tags", "", "tags", 1}, layout);
  EXPECT_NE(result.summary.find("sigmoid cross-entropy"), std::string::npos) << result.summary;
  const auto plain = import_model({folder_, "", "small", 1}, layout);
  EXPECT_EQ(plain.summary.find("sigmoid"), std::string::npos) << plain.summary;
}

TEST_F(ModelFolderTest, ProbabilitiesThatNoLossTrainsAreRefused) {
  bundle_.description.layers.back().properties["activation"] = "hard_sigmoid";
  write_model_folder(temp_ / "odd", bundle_);
  EXPECT_EQ(error_of([&] { (void)read_model_folder(temp_ / "odd"); }), ErrorCode::kUnimplemented);
}

}  // namespace
}  // namespace moil::night
