// make_seeds KIND FOLDER: writes what a fuzzer begins with, "onnx", "tflite", "image" or "sound".
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files/file.h"
#include "tests/fuzz/image_seeds.h"
#include "tests/fuzz/onnx_seeds.h"
#include "tests/fuzz/sound_seeds.h"
#include "tests/fuzz/tflite_seeds.h"

namespace {

using Seeds = std::map<std::string, std::string> (*)();

Seeds seeds_of(const std::string& kind) {
  if (kind == "onnx") return moil::test::onnx_seeds;
  if (kind == "tflite") return moil::test::tflite_seeds;
  if (kind == "image") return moil::test::image_seeds;
  return kind == "sound" ? moil::test::sound_seeds : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const Seeds seeds = argc == 3 ? seeds_of(argv[1]) : nullptr;
  if (seeds == nullptr) {
    std::fprintf(stderr, "usage: make_seeds onnx|tflite|image|sound FOLDER\n");
    return 64;
  }
  const std::filesystem::path folder = argv[2];
  try {
    std::filesystem::create_directories(folder);
    for (const auto& [name, bytes] : seeds()) moil::write_file_atomic(folder / name, bytes);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "make_seeds: %s\n", e.what());
    return 74;
  }
  return 0;
}
