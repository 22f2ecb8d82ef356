#include "daemon/night/probabilities.h"

#include <algorithm>
#include <cmath>

namespace moil::night {

bool ends_in_softmax(const ModelDescription& model) {
  const auto is_output = [&](const LayerDescription& l) { return l.name == model.outputs[0]; };
  const auto it = std::find_if(model.layers.begin(), model.layers.end(), is_output);
  return it != model.layers.end() && it->type == "softmax";
}

void to_probabilities(std::span<float> logits) {
  const double most = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x) - most);
  for (float& x : logits) x = static_cast<float>(std::exp(static_cast<double>(x) - most) / sum);
}

}  // namespace moil::night
