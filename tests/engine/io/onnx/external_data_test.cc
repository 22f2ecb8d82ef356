// Weights that lie in files of their own: only in the model's folder, and only what is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "engine/io/onnx/onnx_reader.h"
#include "tests/scratch_folder.h"

namespace moil::onnx {
namespace {

namespace fs = std::filesystem;
namespace pb = ::onnx;
using ::testing::HasSubstr;

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "model");
    std::ofstream(folder_ / "secret") << std::string(64, 's');
    std::ofstream(folder_ / "model" / "weights.bin") << std::string(64, 'w');
  }

  // What reading says of a model of one tensor, 4 floats unless `elements` says otherwise, whose
  // external data is described by these entries.
  std::string refusal(const std::map<std::string, std::string>& entries,
                      std::int64_t elements = 4) const {
    pb::ModelProto model;
    model.add_opset_import()->set_version(14);
    pb::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("w");
    tensor.add_dims(elements);
    tensor.set_data_type(pb::TensorProto::FLOAT);
    tensor.set_data_location(pb::TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    std::ofstream(folder_ / "model" / "m.onnx", std::ios::binary) << model.SerializeAsString();
    try {
      (void)read_onnx(folder_ / "model" / "m.onnx");
    } catch (const Error& e) {
      return e.what();
    }
    return "read";
  }
  std::string refusal_of(const std::string& location, const std::string& length = "16") const {
    return refusal({{"location", location}, {"length", length}});
  }

  test::ScratchFolder folder_;
};

TEST_F(ExternalData, LiesInTheModelsFolder) {
  EXPECT_EQ(refusal_of("weights.bin"), "read");
  EXPECT_EQ(refusal_of("./weights.bin"), "read");
  EXPECT_THAT(refusal_of("../secret"), HasSubstr("not in the model's folder"));
  EXPECT_THAT(refusal_of("../model/../secret"), HasSubstr("not in the model's folder"));
  EXPECT_THAT(refusal_of((folder_ / "secret").string()), HasSubstr("not in the model's folder"));
  EXPECT_THAT(refusal_of((folder_ / "model" / "weights.bin").string()),
              HasSubstr("not in the model's folder"));
  EXPECT_THAT(refusal_of(""), HasSubstr("not in the model's folder"));
  fs::create_symlink(folder_ / "secret", folder_ / "model" / "link");
  EXPECT_THAT(refusal_of("link"), HasSubstr("not in the model's folder"));
  fs::create_directory_symlink(folder_.path(), folder_ / "model" / "up");
  EXPECT_THAT(refusal_of("up/secret"), HasSubstr("not in the model's folder"));
  EXPECT_THAT(refusal_of("nothing"), HasSubstr("not there"));
}

TEST_F(ExternalData, HasTheSizeOfItsElements) {
  EXPECT_THAT(refusal_of("weights.bin", "65"), HasSubstr("ends behind the end"));
  EXPECT_THAT(refusal_of("weights.bin", "8"), HasSubstr("holds 8 of 16 bytes"));
  EXPECT_THAT(refusal_of("weights.bin", "many"), HasSubstr("length"));
  EXPECT_THAT(refusal_of("weights.bin", "-1"), HasSubstr("length"));
  EXPECT_THAT(refusal_of("weights.bin", "99999999999999999999"), HasSubstr("length"));
  EXPECT_THAT(refusal({{"location", "weights.bin"}}), HasSubstr("holds 64 of 16 bytes"));
  EXPECT_EQ(refusal({{"location", "weights.bin"}, {"offset", "48"}}), "read");
  EXPECT_THAT(refusal({{"location", "weights.bin"}, {"offset", "65"}}),
              HasSubstr("behind the end"));
  EXPECT_THAT(refusal({{"location", "weights.bin"},
                       {"offset", "18446744073709551615"},
                       {"length", "18446744073709551615"}}),
              HasSubstr("behind the end"));
}

// A file of holes takes no disk; reading it would take memory.
TEST_F(ExternalData, TakesMemoryForItsElementsAlone) {
  std::ofstream(folder_ / "model" / "holes") << "";
  fs::resize_file(folder_ / "model" / "holes", std::uintmax_t{1} << 40);
  EXPECT_THAT(refusal({{"location", "holes"}}), HasSubstr("holds 1099511627776 of 16 bytes"));
  EXPECT_THAT(refusal({{"location", "weights.bin"}}, std::int64_t{1} << 60),
              HasSubstr("more elements"));
}

// Opening a pipe would wait for its other end.
TEST_F(ExternalData, IsARegularFile) {
  ASSERT_EQ(::mkfifo((folder_ / "model" / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal_of("pipe"), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal_of("."), HasSubstr("not a regular file"));
  fs::create_symlink("/dev/zero", folder_ / "model" / "device");
  EXPECT_THAT(refusal_of("device"), HasSubstr("not in the model's folder"));
}

TEST_F(ExternalData, NamesMayBeLong) {
  const std::string said = refusal_of(std::string(1 << 20, 'x'));
  EXPECT_THAT(said, HasSubstr("xxx..."));
  EXPECT_LT(said.size(), 1000U);
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "a/../";
  EXPECT_THAT(refusal_of(deep + "../secret"), HasSubstr("external data"));
}

}  // namespace
}  // namespace moil::onnx
