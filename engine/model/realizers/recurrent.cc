#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "engine/layers/factory.h"
#include "engine/model/realizers/realizers.h"

namespace moil {

ModelDescription realize_recurrent(const ModelDescription& model) {
  static constexpr std::array<std::string_view, 6> kTypes = {"rnn",      "lstm",      "gru",
                                                             "rnn_cell", "lstm_cell", "gru_cell"};
  const auto own = layer_types();
  for (const LayerDescription& layer : model.layers) {
    const bool recurrent = std::find(kTypes.begin(), kTypes.end(), layer.type) != kTypes.end();
    if (!recurrent || std::find(own.begin(), own.end(), layer.type) != own.end()) continue;
    throw Error(ErrorCode::kUnimplemented, "layer \"" + layer.name + "\": recurrent layers (\"" +
                                               layer.type +
                                               "\") cannot be unrolled yet; the engine has no "
                                               "sequence models");
  }
  return model;
}

}  // namespace moil
