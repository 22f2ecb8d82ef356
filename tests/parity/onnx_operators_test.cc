// What an import passes over, folds or makes layers of, against ONNX Runtime on numbers that tell
// it from nothing.
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

void expect_near(const std::vector<float>& found, const std::vector<float>& theirs,
                 const std::string& name) {
  float most = 0;
  for (const float v : theirs) most = std::max(most, std::abs(v));
  const bool rounds = name.starts_with("rounded-");  // to a 100th of the largest, and on
  const float of_most = rounds ? 0.06F : 1e-6F;
  int others = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const float allowed = 1e-3F * std::abs(theirs[i]) + of_most * std::max(most, 1.0F);
    others += std::abs(found[i] - theirs[i]) <= allowed ? 0 : 1;
  }
  EXPECT_EQ(others, 0) << "of " << found.size();
}

void expect_like_onnx_runtime(const fs::path& file, const onnx::Graph& graph) {
  const WeightMap expected =
      read_safetensors(fs::path(file).replace_extension("safetensors")).tensors;
  try {
    const std::vector<float> found =
        computed_in_order(onnx::import_onnx(graph), expected.at("image"));
    const std::vector<float>& theirs = expected.at("logits").data;
    ASSERT_EQ(found.size(), theirs.size());
    expect_near(found, theirs, file.stem().string());
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
  }
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
    expect_like_onnx_runtime(file, graph);
    ++compared;
  }
  EXPECT_GE(compared, 400);
  EXPECT_GE(refused, 10);
}

}  // namespace
}  // namespace moil::test
