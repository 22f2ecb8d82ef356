// Judging a model on held-out samples.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/run/network.h"
#include "engine/train/batch_source.h"
#include "engine/train/task.h"

namespace moil {

// Told of every sample in order: what the network gives and what it is held against.
using EachSample = std::function<void(std::int64_t sample, std::span<const float> output,
                                      std::span<const float> target)>;

// Runs every sample of the source once through an allocated inference network, whose output 0 is
// held against the source's only target. The last batch is filled up and what fills it ignored.
void for_each_answer(Network& network, BatchSource& source, const EachSample& each);

// What a task's scorer says of them.
[[nodiscard]] std::vector<Score> evaluate(Network& network, BatchSource& source, const Task& task,
                                          OutputForm form = {});

}  // namespace moil
