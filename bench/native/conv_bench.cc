// GFLOP/s of every kernel of every processor, step by step, over the shapes of MobileNetV2,
// ResNet-18 and VGG16, next to OpenBLAS's sgemm on a large square: conv_bench [--quick] [--json F].
// GFLOP/s are those of the direct convolution, whatever the algorithm really computes.
#include <chrono>
#include <cstdio>
#include <fstream>

#include "base/command_line/command_line.h"
#include "base/json/json.h"
#include "base/version.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/device/conv/measure.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/parallel.h"

namespace moil {
namespace {

ConvShape shape(std::int64_t batch, std::int64_t in, std::int64_t side, std::int64_t out,
                std::int64_t kernel, std::int64_t stride = 1, std::int64_t groups = 1) {
  ConvShape s;
  s.batch = batch, s.in_channels = in, s.in_h = s.in_w = side, s.out_channels = out;
  s.kernel_h = s.kernel_w = kernel, s.stride_h = s.stride_w = stride, s.groups = groups;
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = kernel / 2;
  return s;
}

std::vector<ConvShape> shapes() {
  return {
      shape(32, 3, 224, 32, 3, 2),        shape(32, 16, 112, 96, 1),
      shape(32, 24, 56, 144, 1),          shape(32, 144, 56, 24, 1),
      shape(32, 192, 28, 32, 1),          shape(32, 96, 14, 576, 1),
      shape(32, 576, 14, 96, 1),          shape(32, 960, 7, 160, 1),
      shape(32, 320, 7, 1280, 1),         shape(32, 96, 112, 96, 3, 2, 96),
      shape(32, 144, 56, 144, 3, 1, 144), shape(32, 576, 14, 576, 3, 1, 576),
      shape(32, 960, 7, 960, 3, 1, 960),  shape(32, 240, 14, 240, 5, 2, 240),
      shape(64, 64, 32, 64, 3),           shape(64, 256, 8, 256, 3),
      shape(64, 512, 4, 512, 3),          shape(64, 512, 2, 512, 3),
      shape(32, 64, 56, 64, 3),           shape(32, 128, 28, 128, 3),
      shape(32, 512, 7, 512, 3),          shape(32, 64, 56, 128, 3, 2),
      shape(32, 64, 56, 128, 1, 2),       shape(1, 96, 14, 576, 1),
  };
}

double sgemm_peak() {
  constexpr std::int64_t kSide = 2048;
  const std::vector<float> a(kSide * kSide, 0.5F), b(kSide * kSide, 0.25F);
  std::vector<float> c(kSide * kSide);
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    const auto start = std::chrono::steady_clock::now();
    sgemm(Transpose::kNo, Transpose::kNo, kSide, kSide, kSide, 1.0F, a.data(), kSide, b.data(),
          kSide, 0.0F, c.data(), kSide);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 2.0 * kSide * kSide * kSide / best / 1e9;
}

struct Row {
  const char* step;
  ConvStep conv_step;
  bool constant;
};
constexpr Row kRows[] = {{"F", ConvStep::kForward, false},
                         {"F constant", ConvStep::kForward, true},
                         {"CD", ConvStep::kDerivative, false},
                         {"CG", ConvStep::kGradient, false}};

nlohmann::json bench(const ConvShape& s, const Row& row, int runs) {
  const KernelSelector selector;
  const ConvFusion fusion{false, FusedActivation::kNone, row.constant};
  const auto kernels = selector.candidates(s, row.conv_step, fusion);
  const std::vector<double> seconds = measure(kernels, s, row.conv_step, fusion, runs);
  nlohmann::json result = {{"shape", s.to_string()}, {"step", row.step}};
  std::printf("%-46s %-10s", s.to_string().c_str(), row.step);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const double gflops = s.flops() / seconds[i] / 1e9;
    const std::string name(kernels[i]->name());
    std::printf("  %s %.0f", name.c_str(), gflops);
    result["kernels"][name] = {{"gflops", gflops},
                               {"seconds", seconds[i]},
                               {"workspace_bytes", kernels[i]->workspace_bytes()}};
  }
  std::printf("\n");
  return result;
}

}  // namespace
}  // namespace moil

int main(int argc, char** argv) {
  moil::cli::Program app("GFLOP/s of convolutions by kernel", "conv_bench", moil::kVersion);
  bool quick = false;
  std::string json;
  app.add_flag("--quick", quick, "one run a kernel, every third shape");
  app.add_option("--json", json, "also write the numbers to this file");
  if (const auto exit = app.parse(argc, argv)) return *exit;
  nlohmann::json report = {{"threads", moil::thread_count()}, {"sgemm_gflops", moil::sgemm_peak()}};
  std::printf("%d threads; sgemm 2048: %.0f GFLOP/s\n", moil::thread_count(),
              report["sgemm_gflops"].get<double>());
  const auto shapes = moil::shapes();
  for (std::size_t i = 0; i < shapes.size(); i += quick ? 3 : 1)
    for (const moil::Row& row : moil::kRows)
      report["rows"].push_back(moil::bench(shapes[i], row, quick ? 1 : 5));
  if (!json.empty()) std::ofstream(json) << report.dump(2) << "\n";
  return 0;
}
