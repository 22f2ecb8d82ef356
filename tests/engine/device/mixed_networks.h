// Networks whose steps any of several processors compute, against the CPU alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/selection_problem.h"
#include "tests/engine/model/models.h"

namespace moil::test {

inline constexpr std::int64_t kMixedBatch = 4;

NetworkOptions mixed_options(const ModelDescription& prepared, bool clips = false);

// Every step on one of the CPU and so many others.
Assignment any_mix(const ModelDescription& prepared, unsigned seed, std::size_t others);

double largest(const std::vector<float>& values);
double difference(const std::vector<float>& a, const std::vector<float>& b);

// What rounding does to a run: the same one from weights that differ in their last bits.
TrainingRun rounded_run(const ModelDescription& prepared, const NetworkOptions& options,
                        WeightMap weights, int steps);

// Within 1e-4 of the largest value of the tensor, or of a tenth of its kind's (a bias before a
// batch norm has no gradient but rounding), or what rounding alone does (a batch norm of a channel
// that hardly varies enlarges it).
void expect_same(const TrainingRun& found, const TrainingRun& expected, const TrainingRun& rounded,
                 const std::string& what);

// A step hands over as often as the plans of all processors say, each of which says something.
void expect_planned_transfers(const ModelDescription& prepared, const NetworkOptions& options);

// Random networks with a random mix each; `change` sees the options of the run that is mixed.
void expect_mixes_as_on_the_cpu(
    const std::vector<std::shared_ptr<Processor>>& processors, unsigned seeds,
    const std::function<void(unsigned seed, NetworkOptions&)>& change = {});

}  // namespace moil::test
