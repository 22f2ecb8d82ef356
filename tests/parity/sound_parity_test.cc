// Front ends against NumPy and torchaudio: every number of every patch within 1e-5.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/files/file.h"
#include "base/json/json.h"
#include "datasets/kinds/sound/sound_kind.h"

namespace moil::data {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = MOIL_SOUND_CASES;

std::vector<float> floats_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  return floats;
}

TEST(SoundParity, PatchesAreWhatOthersMakeOfThem) {
  const auto cases = parsed_json(read_text(kCases / "cases.json"));
  const std::vector<float> expected = floats_of(read_file(kCases / "patches.bin", 1 << 28));
  double largest = 0;
  for (const nlohmann::json& one : cases.at("cases")) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    const KindPtr kind = kind_from_json({{"kind", "sound"}, {"front_end", one.at("front_end")}});
    const auto bytes = read_file(kCases / one.at("file").get<std::string>(), 1 << 24);
    const std::uint32_t parts = kind->parts(bytes, "sound");
    ASSERT_EQ(parts, one.at("patches").get<std::uint32_t>());
    const auto maker = kind->maker({});
    maker->load(bytes, "sound");
    std::vector<float> found(kind->floats());
    for (std::uint32_t part = 0; part < parts; ++part) {
      maker->make({}, {0, part}, found.data());
      const float* from =
          expected.data() + one.at("offset").get<std::size_t>() + part * found.size();
      double worst = 0;
      for (std::size_t i = 0; i < found.size(); ++i)
        worst = std::max(worst, std::abs(double{found[i]} - double{from[i]}));
      EXPECT_LT(worst, 1e-5) << "patch " << part;
      largest = std::max(largest, worst);
    }
  }
  RecordProperty("largest_error", std::to_string(largest));
  std::printf("largest error %.2g over %zu sounds\n", largest, cases.at("cases").size());
  if (!cases.at("torchaudio").get<bool>())
    GTEST_SKIP() << "torchaudio is not installed (Debian: python3-torchaudio)";
}

}  // namespace
}  // namespace moil::data
