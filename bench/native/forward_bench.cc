// Times the frozen part of a network as a night runs it.
//
//   forward_bench --model FOLDER [--batch 32] [--layers 1] [--threads 2] [--runs 7] [--json]
//
// Prints the median milliseconds an image of so many forward passes of whole batches.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>

#include "base/command_line/command_line.h"
#include "base/json/json.h"
#include "base/version.h"
#include "daemon/models/model_folder.h"
#include "daemon/night/maps/backbone.h"
#include "engine/kernels/parallel.h"

namespace moil::night {
namespace {

struct Options {
  std::string model;
  std::int64_t batch = 32;
  int layers = 1, threads = 2, runs = 7;
};

// An image's: the median, and what all threads computed in the mean.
struct Milliseconds {
  double median = 0, computed = 0;
};

Milliseconds milliseconds(Backbone& backbone, std::int64_t batch, int runs) {
  std::vector<float> images(static_cast<std::size_t>(batch) * backbone.input_elements());
  std::mt19937 random(1);
  for (float& x : images) x = static_cast<float>(random() % 256) / 128.0F - 1.0F;
  std::vector<float> features(static_cast<std::size_t>(batch) * backbone.feature_elements());
  backbone.run(images.data(), batch, features.data());
  std::vector<double> times;
  const std::clock_t began = std::clock();
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    backbone.run(images.data(), batch, features.data());
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  const double computed = 1000.0 * static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  std::sort(times.begin(), times.end());
  const auto count = static_cast<double>(batch);
  return {times[times.size() / 2] / count, computed / runs / count};
}

nlohmann::json run(const Options& options) {
  set_thread_count(options.threads);
  const ModelBundle bundle = read_model_folder(options.model);
  const Freeze freeze = freeze_all_but_last(bundle.description, options.layers);
  KernelSelector kernels;
  const WeightsOfPart weights = [&](const ModelDescription& part) {
    return weights_of(part, bundle.weights);
  };
  Backbone backbone(bundle.description, weights, freeze, options.batch, kernels);
  backbone.allocate();
  const Milliseconds found = milliseconds(backbone, options.batch, options.runs);
  return {{"ms_per_image", found.median}, {"computed_ms_per_image", found.computed},
          {"batch", options.batch},       {"threads", options.threads},
          {"split", freeze.split},        {"feature_elements", backbone.feature_elements()}};
}

}  // namespace
}  // namespace moil::night

int main(int argc, char** argv) {
  moil::night::Options options;
  bool json = false;
  moil::cli::Program app("The frozen forward pass of a model folder, timed", "forward_bench",
                         moil::kVersion);
  app.add_option("--model", options.model, "model folder").required();
  app.add_option("--batch", options.batch, "images a pass").check(moil::cli::positive());
  app.add_option("--layers", options.layers, "layers that a night would train");
  app.add_option("--threads", options.threads).check(moil::cli::positive());
  app.add_option("--runs", options.runs).check(moil::cli::positive());
  app.add_flag("--json", json, "print one JSON object");
  if (const auto exit = app.parse(argc, argv)) return *exit;
  try {
    const nlohmann::json result = moil::night::run(options);
    if (json) {
      std::printf("%s\n", result.dump().c_str());
    } else {
      std::printf("%.2f ms an image, batches of %lld\n", result["ms_per_image"].get<double>(),
                  static_cast<long long>(options.batch));
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "forward_bench: %s\n", e.what());
    return 1;
  }
  return 0;
}
