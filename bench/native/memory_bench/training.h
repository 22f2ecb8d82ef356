// The network that memory_bench trains, planned in two processes the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "base/json/json.h"
#include "bench/native/memory_bench/options.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/run/network.h"

namespace moil {

struct ModelDescription;

// The layers whose weights are trained.
[[nodiscard]] std::set<std::string> trained_layers(const ModelDescription& model,
                                                   const BenchOptions& options);

// What is chosen by measurement, and by which a network is planned.
struct Measurements {
  KernelChoices kernels;
  SwapTimes times;                                               // empty if nothing is measured
  std::set<std::string> again;                                   // layers
  double read_bytes_per_second = 0, write_bytes_per_second = 0;  // of the swap folder's disk
};
void to_json(nlohmann::json& json, const Measurements& m);
void from_json(const nlohmann::json& json, Measurements& m);

// Chooses kernels, and measures the disk and the orders if the options want that. Takes all the
// memory that trying things out takes: for a process of its own.
[[nodiscard]] Measurements measure(const BenchOptions& options);

// The libraries' own buffers: one small product, one small convolution.
void warm_libraries(int threads);

// A network by these measurements. Throws kInternal if they lack a kernel.
[[nodiscard]] std::unique_ptr<Network> make_network(const BenchOptions& options,
                                                    const Measurements& measurements);

// Allocates it and gives it fresh weights, one at a time.
void start(Network& network);

// Samples of small values, and one-hot targets; or, of the first input and the target, those that
// the options name, one after the other. A function of the step. kInvalidArgument if the
// samples of that file have other sizes.
void fill_inputs(Network& network, const BenchOptions& options, std::uint64_t step);

// Plain SGD, clipped if the options want that.
[[nodiscard]] std::unique_ptr<WeightUpdater> make_sgd(const BenchOptions& options);

}  // namespace moil
