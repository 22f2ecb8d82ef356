// The fuzzers' files, without a fuzzer: what they begin with must be imported or decoded, and no
// file that one of them ever found may do harm again.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "datasets/images/codec.h"
#include "engine/io/onnx/onnx_import.h"
#include "engine/io/onnx/onnx_reader.h"
#include "tests/fuzz/image_seeds.h"
#include "tests/fuzz/image_trial.h"
#include "tests/fuzz/onnx_seeds.h"
#include "tests/fuzz/onnx_trial.h"

namespace moil::test {
namespace {

namespace fs = std::filesystem;
using Trial = void (*)(std::span<const std::uint8_t>);

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void replay(const std::string& kind, Trial trial) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(MOIL_CORPUS) / kind)) {
    SCOPED_TRACE(entry.path().string());
    trial(read_file(entry.path(), 1 << 20));
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

TEST(FuzzCorpus, ImageSeedsAreDecoded) {
  for (const auto& [name, bytes] : image_seeds()) {
    EXPECT_NO_THROW((void)data::decode_image(bytes_of(bytes), name));
    try_image(bytes_of(bytes));
  }
}

TEST(FuzzCorpus, OnnxFilesDoNoHarm) { replay("onnx", try_onnx); }
TEST(FuzzCorpus, ImagesDoNoHarm) { replay("image", try_image); }

}  // namespace
}  // namespace moil::test
