// What realizers share, and what is done with parts of a model alone.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "engine/model/model_description.h"

namespace moil {

// Names for what realizers add, which no layer or input of the model has, whatever a description
// calls its own: the wish, or the first of WISH_2, WISH_3, ... that is free.
class FreshNames {
 public:
  explicit FreshNames(const ModelDescription& model);
  [[nodiscard]] std::string take(const std::string& wish);

 private:
  std::set<std::string> taken_;
};

// realize_batch_norm_folding() of these batch norms; null: of all.
[[nodiscard]] ModelDescription fold_batch_norms(const ModelDescription& model, WeightMap& weights,
                                                const std::set<std::string>* only);

// The type and properties of a layer that is to stand behind another.
struct Follower {
  std::string type;
  Properties properties = {};
};

// Asks `follower` of every layer, which may also change the layer's properties, and puts what it
// answers behind it as "LAYER/SUFFIX" (a fresh name): whatever read the layer reads that. The
// layers' order stays. Throws kInvalidArgument if a follower's layer has a second output that is
// read.
[[nodiscard]] ModelDescription put_behind(
    const ModelDescription& model, const std::string& suffix,
    const std::function<std::optional<Follower>(LayerDescription&)>& follower);

}  // namespace moil
