// Files that are made of the fuzzers' own do no harm: the same ones each time, in the sanitizers'
// build. A trial ends the program if a promise is broken (trials.h), and a sanitizer if memory is.
// scripts/fuzz looks further, with clang's fuzzers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "tests/fuzz/image_seeds.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/onnx_seeds.h"
#include "tests/fuzz/sound_seeds.h"
#include "tests/fuzz/text.h"
#include "tests/fuzz/tflite_seeds.h"
#include "tests/fuzz/trials.h"

namespace moil::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 1 << 16;
constexpr int kFiles = 400;

struct Kind {
  const char* name;
  bool (*trial)(std::span<const std::uint8_t>);
  std::map<std::string, std::string> (*made)();  // seeds beside the corpus; may be null
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

std::vector<Bytes> seeds_of(const Kind& kind) {
  std::vector<fs::path> files;
  const fs::path folder = fs::path(MOIL_CORPUS) / kind.name;
  if (fs::exists(folder))  // no file of its kind may have been found yet
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);  // a folder has no order of its own
  std::vector<Bytes> seeds;
  for (const fs::path& file : files) seeds.push_back(read_file(file, 1 << 20));
  if (kind.made == nullptr) return seeds;
  for (const auto& [name, text] : kind.made()) {
    const auto bytes = bytes_of(text);
    seeds.emplace_back(bytes.begin(), bytes.end());
  }
  return seeds;
}

class Mutations : public ::testing::TestWithParam<Kind> {};

TEST_P(Mutations, DoNoHarm) {
  const std::vector<Bytes> seeds = seeds_of(GetParam());
  ASSERT_FALSE(seeds.empty());
  Random random(derive_seed(1, GetParam().name));
  int accepted = 0;
  for (int i = 0; i < kFiles; ++i) accepted += GetParam().trial(mutated(seeds, kMostBytes, random));
  RecordProperty("accepted", accepted);
}

INSTANTIATE_TEST_SUITE_P(
    Every, Mutations,
    ::testing::Values(Kind{"onnx", try_onnx, onnx_seeds}, Kind{"tflite", try_tflite, tflite_seeds},
                      Kind{"image", try_image, image_seeds}, Kind{"sound", try_sound, sound_seeds},
                      Kind{"request", try_request, nullptr}, Kind{"config", try_config, nullptr},
                      Kind{"job", try_job, nullptr}, Kind{"schedule", try_schedule, nullptr},
                      Kind{"calendar", try_calendar, nullptr},
                      Kind{"safetensors", try_safetensors, nullptr},
                      Kind{"value", try_value, nullptr}, Kind{"tar", try_tar, nullptr},
                      Kind{"csv", try_csv, nullptr}, Kind{"npy", try_npy, nullptr}),
    [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace moil::test
