// LF(n): which layers a night trains and where the model is cut (MoIL, chapter 4.2).
//
// n counts weight units: a layer that owns trainable weights, together with the batch norm that
// follows it directly. So the folded and the unfolded form of one network are cut at one place.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/model/model_description.h"

namespace moil {

// Layer names of each weight unit, from the input to the output. Layers on which no output depends
// do not count.
[[nodiscard]] std::vector<std::vector<std::string>> weight_units(const ModelDescription& model);

struct Freeze {
  std::set<std::string> trainable_layers;  // layers that own trained weights
  // The value that the backbone ends in; empty if nothing can be frozen as a backbone (all
  // layers train, or a trained layer reads the input on every path).
  std::string split;
  std::vector<std::int64_t> split_dims;  // of one sample
  int trained_units = 0;
  int total_units = 0;
};

// Trains the last n units, or all if n is empty or at least their number. The split is the last
// value before the first trained layer that everything behind it is computed from alone; dropout
// stays behind it, since a cached feature map must not be random. Frozen layers between the split
// and the first trained layer (inside a residual block) are computed in every step.
[[nodiscard]] Freeze freeze_all_but_last(const ModelDescription& model, std::optional<int> n);

// Takes batch norms out of what is trained: they normalise by the statistics that they have, and
// the split stays where it is.
void freeze_batch_norms(const ModelDescription& model, Freeze& freeze);

// Takes the tables that the input is looked up in (surgery.h) into what is trained, if anything is:
// nothing below them can be frozen.
void train_tables(const ModelDescription& model, Freeze& freeze);

}  // namespace moil
