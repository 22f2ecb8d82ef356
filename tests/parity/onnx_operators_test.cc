// What an import passes over or folds, against ONNX Runtime on numbers that tell it from nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "engine/io/onnx/onnx_reader.h"
#include "engine/io/safetensors.h"
#include "tests/engine/io/onnx/builder.h"
#include "tests/parity/cases.h"

namespace moil::test {
namespace {

namespace fs = std::filesystem;

const fs::path kOperators = MOIL_OPERATOR_CASES;

// In the order of files.
std::vector<float> computed_in_order(const onnx::ImportedModel& model, const NamedTensor& image) {
  const auto [info, found] = computed(model.description, model.weights, image);
  if (info.layout != Layout::kChannelsLast) return found;
  std::vector<float> rows(found.size());  // as files have it
  const std::int64_t channels = info.dims[1], pixels = info.dims[2] * info.dims[3];
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t n = at / (channels * pixels), p = at / channels % pixels, c = at % channels;
    rows[static_cast<std::size_t>((n * channels + c) * pixels + p)] = found[i];
  }
  return rows;
}

std::vector<fs::path> graphs() {
  std::vector<fs::path> found;
  if (!fs::is_directory(kOperators)) return found;
  for (const auto& entry : fs::directory_iterator(kOperators))
    if (entry.path().extension() == ".onnx") found.push_back(entry.path());
  return found;
}

TEST(OnnxOperators, WhatIsPassedOverChangesNothingInOnnxRuntimeEither) {
  const std::vector<fs::path> files = graphs();
  if (files.empty()) GTEST_SKIP() << "no cases: ONNX Runtime cannot be had";
  int compared = 0, refused = 0;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.stem().string());
    const onnx::Graph graph = onnx::read_onnx(file);
    if (file.stem().string().starts_with("refused-")) {
      ++refused;
      EXPECT_NE(onnx::refusal_of(graph).find("\"culprit\""), std::string::npos);
      continue;
    }
    const WeightMap expected =
        read_safetensors(fs::path(file).replace_extension("safetensors")).tensors;
    const std::vector<float> found =
        computed_in_order(onnx::import_onnx(graph), expected.at("image"));
    const std::vector<float>& theirs = expected.at("logits").data;
    ASSERT_EQ(found.size(), theirs.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], theirs[i], 1e-3 * std::abs(theirs[i]) + 1e-6) << i;  // casts to 16 bits
    ++compared;
  }
  EXPECT_GE(compared, 30);
  EXPECT_GE(refused, 10);
}

}  // namespace
}  // namespace moil::test
