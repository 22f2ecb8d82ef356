// What a network says of a weight at its AG, as an optimizer takes it.
#pragma once

#include "engine/run/network.h"
#include "engine/train/optimizer.h"

namespace moil {

// With a learning rate of 0, as a first step that is not clipped.
inline OptimizerStep optimizer_step(const WeightUpdate& update) {
  OptimizerStep step;
  step.weight = update.weight;
  step.gradient = update.gradient;
  step.state = update.states;
  step.elements = update.elements;
  step.decays = update.decays;
  step.elsewhere = update.elsewhere;
  step.rows = update.rows;
  step.row_elements = update.row_elements;
  return step;
}

}  // namespace moil
