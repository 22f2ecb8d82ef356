#include "daemon/onnx/conversion.h"

#include <gmock/gmock.h>

#include "base/files/file.h"
#include "daemon/models/model_folder.h"
#include "datasets/kinds/image/image_kind.h"
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

data::KindPtr small_images() {
  data::Preprocessing images;
  images.height = images.width = 8;
  images.mean.assign(3, 127);
  images.stddev.assign(3, 128);
  return data::image_kind(images);
}

// A tagger of three classes with a calibration, in a folder.
std::string tagger_in(const TempFolder& folder) {
  night::ModelBundle bundle;
  bundle.description = complete_model(parse_model(
      R"({"format":"moil-model","version":1,"name":"tagger","inputs":[{"name":"in","dims":[3,8,8]}],
      "layers":[{"name":"edges","type":"conv2d","inputs":["in"],
                 "properties":{"kernel":3,"padding":1,"stride":2,"out_channels":4}},
      {"name":"mean","type":"global_average_pool","inputs":["edges"]},
      {"name":"classifier","type":"fully_connected","inputs":["mean"],"properties":{"units":3}},
      {"name":"shares","type":"sigmoid","inputs":["classifier"]}],"outputs":["shares"]})"));
  bundle.weights = initial_weights(build_graph(bundle.description, 1), 3);
  bundle.labels = {"cat", "dog", "Größe"};
  bundle.kind = small_images();
  bundle.task = task_from_json({{"task", "tag"}});
  bundle.calibration = night::Calibration{1.5, 0.25, 40};
  night::write_model_folder(folder / "tagger", bundle);
  return folder / "tagger";
}

TEST(OnnxConversion, WhatBelongsToAModelTravelsInBothFormats) {
  for (const FileFormat format : {FileFormat::kOnnx, FileFormat::kTflite}) {
    const TempFolder folder;
    const std::string model = tagger_in(folder), file = folder / "file";
    EXPECT_THAT(export_file({model, file, format}), HasSubstr("tagger: 4 layers, 127 weights"));
    ImportArguments arguments;
    arguments.file = file;
    arguments.folder = folder / "again";
    (void)import_file(arguments);
    const night::ModelBundle before = night::read_model_folder(model),
                             after = night::read_model_folder(folder / "again");
    EXPECT_EQ(after.labels, before.labels);
    EXPECT_EQ(after.kind->to_json(), before.kind->to_json());
    EXPECT_EQ(after.task->to_json(), before.task->to_json());
    EXPECT_EQ(after.calibration, before.calibration);
    EXPECT_EQ(after.description.name, before.description.name);
    EXPECT_EQ(after.weights.at("classifier.weight").data,
              before.weights.at("classifier.weight").data);
  }
}

TEST(OnnxConversion, WhatCannotBeWrittenLeavesTheFileThatWasThere) {
  const TempFolder folder;
  night::ModelBundle bundle;
  bundle.description = complete_model(parse_model(
      R"({"format":"moil-model","version":1,"name":"gaps","inputs":[{"name":"in","dims":[3,8,8]}],
      "layers":[{"name":"pool","type":"max_pool","inputs":["in"],
                 "properties":{"kernel":2,"dilation":2}},
      {"name":"flat","type":"flatten","inputs":["pool"]},
      {"name":"classifier","type":"fully_connected","inputs":["flat"],"properties":{"units":2}}],
      "outputs":["classifier"]})"));
  bundle.weights = initial_weights(build_graph(bundle.description, 1), 3);
  bundle.labels = {"a", "b"};
  bundle.kind = small_images();
  night::write_model_folder(folder / "gaps", bundle);
  const std::string file = folder / "gaps.tflite";
  write_file_atomic(file, std::string("before"));
  std::string why;
  const auto write = [&] { (void)export_file({folder / "gaps", file, FileFormat::kTflite}); };
  EXPECT_EQ(error_of(write, &why), ErrorCode::kUnimplemented);
  EXPECT_THAT(why, HasSubstr("node \"pool\" (MaxPool): the format's pools have no"));
  EXPECT_EQ(read_text(file), "before");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 2);
}

}  // namespace
}  // namespace moil
