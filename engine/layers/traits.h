// What a layer's type is, told without building one: what freezing, surgery, cutting and the
// realizers ask. Registered with the layer's maker (factory.h); all are off for a type that says
// nothing. Safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace moil {

// What its outputs are, as the end of a model.
enum class Probabilities : std::uint8_t {
  kNone,
  kOfClasses,  // one of them is true: softmax
  kOfEach,     // each for itself: sigmoid
  kRough,      // of no loss's kind: hard_sigmoid
};

struct LayerTraits {
  bool takes_one_input = false;  // several are concatenated before it
  bool takes_rows = false;       // an image is flattened before it
  bool owns_weights = false;
  bool takes_integers = false;  // its inputs are int32
  bool takes_lengths = false;   // its last input may be int32 (lengths.h)
  // The property that says how many outputs a sample has, if each has a row of the weights and a
  // bias: so it can classify, grow, and take in a scale and a shift of its outputs. Else empty.
  std::string_view rows_property = {};
  bool normalises_over_batch = false;  // by its batch in training unless it is frozen
  bool draws = false;                  // at random, in training
  bool vanishes_in_inference = false;  // it gives its first input
  bool only_moves = false;             // its outputs are its inputs, in another shape or order
  bool fans_out = false;               // several outputs that are its input; training adds it
  bool is_activation = false;          // a layer may name it as its "activation"
  // Inference computes it in one with the layer that it reads.
  bool fuses_into_source = false;
  bool has_flat_side = false;  // where no error passes
  // Rises with its argument and is flat only where its derivative is 0: the maximum of activated
  // values is the activated maximum, and the derivative reaches the same element or is 0.
  bool commutes_with_maximum = false;
  bool takes_maximum = false;
  Probabilities probabilities = Probabilities::kNone;
};

[[nodiscard]] const LayerTraits& layer_traits(std::string_view type);

}  // namespace moil
