// The fuzzers' files, without a fuzzer: what they begin with must be accepted, and no file that one
// of them ever found may do harm again.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "datasets/images/codec.h"
#include "engine/io/onnx/onnx_import.h"
#include "engine/io/onnx/onnx_reader.h"
#include "tests/fuzz/image_seeds.h"
#include "tests/fuzz/onnx_seeds.h"
#include "tests/fuzz/sound_seeds.h"
#include "tests/fuzz/text.h"
#include "tests/fuzz/tflite_seeds.h"
#include "tests/fuzz/trials.h"

namespace moil::test {
namespace {

namespace fs = std::filesystem;
using Trial = bool (*)(std::span<const std::uint8_t>);

// Files whose names begin with "seed" are sound.
void replay(const std::string& kind, Trial trial) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(MOIL_CORPUS) / kind)) {
    SCOPED_TRACE(entry.path().string());
    const bool accepted = trial(read_file(entry.path(), 1 << 20));
    EXPECT_TRUE(accepted || !entry.path().filename().string().starts_with("seed"));
    ++files;
  }
  EXPECT_GT(files, 0U);
}

TEST(FuzzCorpus, OnnxSeedsAreImported) {
  for (const auto& [name, bytes] : onnx_seeds()) {
    EXPECT_NO_THROW((void)onnx::import_onnx(onnx::parse_onnx(bytes))) << name;
    try_onnx(bytes_of(bytes));
  }
}

TEST(FuzzCorpus, TfliteSeedsAreImported) {
  for (const auto& [name, bytes] : tflite_seeds()) EXPECT_TRUE(try_tflite(bytes_of(bytes))) << name;
}

TEST(FuzzCorpus, ImageSeedsAreDecoded) {
  for (const auto& [name, bytes] : image_seeds()) {
    EXPECT_NO_THROW((void)data::decode_image(bytes_of(bytes), name));
    try_image(bytes_of(bytes));
  }
}

TEST(FuzzCorpus, SoundSeedsAreDecoded) {
  for (const auto& [name, bytes] : sound_seeds()) EXPECT_TRUE(try_sound(bytes_of(bytes))) << name;
}

TEST(FuzzCorpus, OnnxFilesDoNoHarm) { replay("onnx", try_onnx); }
TEST(FuzzCorpus, ImagesDoNoHarm) { replay("image", try_image); }
TEST(FuzzCorpus, SoundsDoNoHarm) { replay("sound", try_sound); }
TEST(FuzzCorpus, RequestsDoNoHarm) { replay("request", try_request); }
TEST(FuzzCorpus, ConfigurationsDoNoHarm) { replay("config", try_config); }
TEST(FuzzCorpus, JobsDoNoHarm) { replay("job", try_job); }
TEST(FuzzCorpus, SchedulesDoNoHarm) { replay("schedule", try_schedule); }
TEST(FuzzCorpus, CalendarsDoNoHarm) { replay("calendar", try_calendar); }
TEST(FuzzCorpus, SafetensorsFilesDoNoHarm) { replay("safetensors", try_safetensors); }
TEST(FuzzCorpus, CacheValuesDoNoHarm) { replay("value", try_value); }
TEST(FuzzCorpus, ArchivesDoNoHarm) { replay("tar", try_tar); }
TEST(FuzzCorpus, TablesDoNoHarm) { replay("csv", try_csv); }
TEST(FuzzCorpus, NpyFilesDoNoHarm) { replay("npy", try_npy); }

// Beside the corpus, a fuzzer begins with the configuration that is shipped.
TEST(FuzzCorpus, TheShippedConfigurationIsAccepted) {
  EXPECT_TRUE(try_config(read_file(fs::path(MOIL_CORPUS) / "../../../config/moild.json", 1 << 20)));
}

}  // namespace
}  // namespace moil::test
