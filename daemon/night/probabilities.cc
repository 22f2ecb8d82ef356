#include "daemon/night/probabilities.h"

#include <algorithm>

namespace moil::night {

bool ends_in_softmax(const ModelDescription& model) {
  const auto is_output = [&](const LayerDescription& l) { return l.name == model.outputs[0]; };
  const auto it = std::find_if(model.layers.begin(), model.layers.end(), is_output);
  return it != model.layers.end() && it->type == "softmax";
}

}  // namespace moil::night
