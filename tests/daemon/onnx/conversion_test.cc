#include "daemon/onnx/conversion.h"

#include <gmock/gmock.h>

#include "engine/io/onnx/export/onnx_export.h"
#include "engine/io/onnx/onnx_writer.h"
#include "engine/model/initial_weights.h"
#include "engine/model/preparation.h"
#include "tests/daemon/night/support.h"

namespace moil {
namespace {

using night::error_of;
using night::TempFolder;
using ::testing::HasSubstr;
using ::testing::Not;

// A file of a classifier that takes this, as other tools write them: nothing says what it is.
std::string file_of(const TempFolder& folder, const std::string& dims) {
  const ModelDescription model = complete_model(parse_model(
      R"({"format":"moil-model","version":1,"name":"foreign","inputs":[{"name":"in","dims":)" +
      dims + R"(}],"layers":[{"name":"flat","type":"flatten","inputs":["in"]},
      {"name":"classifier","type":"fully_connected","inputs":["flat"],"properties":{"units":2}}],
      "outputs":["classifier"]})"));
  const std::string file = folder / "foreign.onnx";
  onnx::write_onnx(file, onnx::export_onnx(model, initial_weights(build_graph(model, 1), 3)));
  return file;
}

struct Imported {
  std::string said;
  data::KindPtr kind;
};

Imported imported(const std::string& dims, const std::string& kind = "", int rate = 0) {
  const TempFolder folder;
  ImportArguments arguments;
  arguments.file = file_of(folder, dims);
  arguments.folder = folder / "model";
  arguments.kind = kind;
  arguments.rate = rate;
  const std::string said = import_file(arguments);
  return {said, night::open_model_folder(folder / "model").kind};
}

TEST(OnnxConversion, AnInputThatMayBeASpectrogramIsNotTakenForAPicture) {
  const TempFolder folder;
  ImportArguments arguments;
  arguments.file = file_of(folder, "[1,96,64]");
  arguments.folder = folder / "model";
  std::string why;
  EXPECT_EQ(error_of([&] { (void)import_file(arguments); }, &why), ErrorCode::kInvalidArgument);
  EXPECT_THAT(why, HasSubstr("foreign.onnx: the model's input is 1x96x64"));
  EXPECT_THAT(why, HasSubstr("--kind sound"));
  EXPECT_FALSE(std::filesystem::exists(folder / "model"));
}

TEST(OnnxConversion, ItsUserSaysWhatTheInputIs) {
  const Imported sound = imported("[1,96,64]", "sound");
  EXPECT_EQ(
      sound.kind->to_json(),
      data::kind_from_json({{"kind", "sound"}, {"front_end", {{"type", "log_mel"}}}})->to_json());
  EXPECT_THAT(sound.said, Not(HasSubstr("--kind")));
  EXPECT_EQ(imported("[3,40,30]", "sound").kind->to_json()["front_end"]["type"], "log_mel_deltas");
  EXPECT_EQ(imported("[1,96,64]", "image").kind->name(), "image");
  EXPECT_EQ(imported("[1,96,64]", "rows").kind->name(), "rows");
  for (const char* kind : {"sound", "image"}) {
    std::string why;
    EXPECT_EQ(error_of([&] { (void)imported("[2,7]", kind); }, &why), ErrorCode::kInvalidArgument);
    EXPECT_THAT(why, HasSubstr("the model's input is 2x7"));
  }
}

TEST(OnnxConversion, ASoundMayBeItsSamples) {
  EXPECT_EQ(
      imported("[4800]", "sound", 16000).kind->to_json(),
      (nlohmann::json{
          {"kind", "sound"},
          {"front_end", {{"type", "samples"}, {"rate", 16000}, {"window", 4800}, {"hop", 2400}}}}));
  std::string why;
  EXPECT_EQ(error_of([&] { (void)imported("[4800]", "sound"); }, &why),
            ErrorCode::kInvalidArgument);
  EXPECT_THAT(why, HasSubstr("say how many a second with --rate"));
}

TEST(OnnxConversion, WhatIsGuessedIsSaid) {
  const Imported photo = imported("[3,8,8]");
  EXPECT_EQ(photo.kind->name(), "image");
  EXPECT_THAT(photo.said, HasSubstr("3x8x8 is taken for a photo"));
  EXPECT_THAT(photo.said, HasSubstr("--kind"));
  const Imported numbers = imported("[7]");
  EXPECT_EQ(numbers.kind->name(), "rows");
  EXPECT_THAT(numbers.said, HasSubstr("taken for numbers"));
}

}  // namespace
}  // namespace moil
