// Task "sequence": a model of sequences, which says at each place what comes next.
//
// A sample is symbols [L], its outputs logits [L, symbols]; the target of a place is the symbol
// behind it. The last place has none, nor has one before padding. So a sample teaches itself: its
// labels say nothing. Trained with softmax cross-entropy, a row a place. The headline is bits per
// symbol, the mean over places of -log2 of the probability that the model gave to what came; beside
// it perplexity, 2 to the power of that, and accuracy. Only a model whose outputs depend on nothing
// behind their place is one: nothing here shows that.
#pragma once

#include "engine/train/task.h"

namespace moil {

// symbols: padding included, which is the last of them unless it is named. kInvalidArgument if
// there are fewer than 2, or padding is none of them.
[[nodiscard]] TaskPtr sequence_task(std::int64_t symbols, std::optional<std::int64_t> padding = {});
// {"task": "sequence", "symbols": 257}, or with "padding". kInvalidArgument.
[[nodiscard]] TaskPtr read_sequence(const nlohmann::json& json);

}  // namespace moil
