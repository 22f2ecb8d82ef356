// make_seeds KIND FOLDER: writes what a fuzzer begins with, "onnx" or "image".
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "tests/fuzz/image_seeds.h"
#include "tests/fuzz/onnx_seeds.h"

int main(int argc, char** argv) {
  const std::string kind = argc == 3 ? argv[1] : "";
  if (kind != "onnx" && kind != "image") {
    std::fprintf(stderr, "usage: make_seeds onnx|image FOLDER\n");
    return 64;
  }
  const std::filesystem::path folder = argv[2];
  try {
    std::filesystem::create_directories(folder);
    for (const auto& [name, bytes] :
         kind == "onnx" ? moil::test::onnx_seeds() : moil::test::image_seeds())
      moil::write_file_atomic(folder / name, bytes);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "make_seeds: %s\n", e.what());
    return 74;
  }
  return 0;
}
