// What a model ends in: logits, or probabilities that a layer at its end makes of them.
//
// The loss has that layer inside, so that training reads what feeds it; answers, exports and soft
// targets keep it. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/model/model_description.h"

namespace moil {

enum class Ending {
  kLogits,
  kSoftmax,  // probabilities of classes of which a sample has one
  kSigmoid,  // of labels, each by itself
  kOther,    // computed of probabilities in a way that no loss has inside: training would stall
};

struct ModelEnding {
  Ending kind = Ending::kLogits;
  std::string layer;  // that makes the probabilities; layers behind it move elements alone
};

// What the model's only output ends in; several end in logits.
[[nodiscard]] ModelEnding ending_of(const ModelDescription& model);

// kUnimplemented naming the layer for an ending that is kOther.
void check_ending(const ModelDescription& model);

[[nodiscard]] bool answers_probabilities(const ModelDescription& model);

struct LossDescription {
  std::string type = {};
  Properties properties = {};
};

// Which loss trains such a model as a classifier: softmax cross-entropy, or for sigmoids their
// cross-entropy, summed over the labels of a sample, so that a label's gradient is of one size
// however many labels there are.
[[nodiscard]] LossDescription fitting_loss(const ModelDescription& model);

// As model/preparation.h and model/realizers/realizers.h have them, of a loss with properties.
[[nodiscard]] ModelDescription prepare_training(const ModelDescription& model,
                                                const LossDescription& loss,
                                                const std::set<std::string>& trainable_layers);
[[nodiscard]] ModelDescription realize_loss(const ModelDescription& model,
                                            const LossDescription& loss,
                                            const std::vector<std::int64_t>& target_dims);

}  // namespace moil
