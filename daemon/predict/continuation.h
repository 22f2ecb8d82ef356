// What a model of sequences says of a text: what comes next, and how well it knew the text.
#pragma once

#include "daemon/json/fields.h"
#include "daemon/models/model_folder.h"
#include "datasets/kinds/tokens/tokens_kind.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/run/network.h"

namespace moil::night {

// One thread.
class Continuation {
 public:
  // bundle: of a task that teaches itself; it and `kernels` outlive this. top: of the likeliest
  // symbols.
  Continuation(ModelBundle& bundle, std::size_t top, KernelSelector& kernels);

  // {"continuation": text, "top": [{"label": "e", "probability": 0.4}], "bits_per_symbol": 1.9}:
  // the symbols that are likeliest one after the other, up to the end of a line or kMostSymbols;
  // what may come first; and the mean over the symbols of the text's last kMostWindows, null if it
  // has but one. kBadData for a text that holds none.
  [[nodiscard]] Json of(std::string_view text);
  static constexpr std::size_t kMostSymbols = 80;
  static constexpr std::uint32_t kMostWindows = 256;

 private:
  // The probabilities of what comes behind the text's end; the network is run.
  std::span<const float> next(std::string_view text);
  void run(const float* shown);
  Json bits_per_symbol(std::string_view text);
  Json most_likely(std::span<const float> probabilities) const;

  const ModelBundle& bundle_;
  const data::TokensDescription& tokens_;
  const OutputForm form_;
  const std::size_t top_, symbols_;
  Network network_;
  std::vector<float> shown_, outputs_;
};

}  // namespace moil::night
