#include "tests/fuzz/tflite_seeds.h"

#include "tests/engine/io/tflite/small_files.h"

namespace moil::test {

std::map<std::string, std::string> tflite_seeds() {
  using tflite::test::Kept;
  using tflite::test::small_classifier;
  return {{"floats", small_classifier()},
          {"halves", small_classifier(Kept::kHalves)},
          {"bytes", small_classifier(Kept::kBytes, tflite::file::TensorType::UINT8)},
          {"channels", small_classifier(Kept::kBytesOfChannels)},
          {"arrangement", tflite::test::small_arrangement()},
          {"spectrum", tflite::test::small_spectrum()},
          {"export", tflite::test::small_export()}};
}

}  // namespace moil::test
