// All that a program includes to add its own layers and optimizers (NNTrainer 2022, §4).
//
// Derive from moil::Layer (layers/layer.h) or moil::Optimizer (train/optimizer.h) and register a
// maker under a type name:
//
//   moil::register_layer("learned_clip", make_learned_clip);
//   moil::register_optimizer("lion", make_lion);
//
// From then on model descriptions may name the layer, and OptimizerConfig::custom the optimizer.
// They are planned as the built-in ones are: what they declare (saved tensors, workspaces, work in
// place, state tensors) has its place in the pool, is swapped and saved in checkpoints.
// Register before the first graph is built, from one thread. docs/custom-layers.md has an example.
#pragma once

#include "base/error.h"               // IWYU pragma: export
#include "engine/kernels/parallel.h"  // IWYU pragma: export
#include "engine/layers/factory.h"    // IWYU pragma: export
#include "engine/layers/layer.h"      // IWYU pragma: export
#include "engine/layers/shapes.h"     // IWYU pragma: export
#include "engine/train/optimizer.h"   // IWYU pragma: export
