#include "daemon/models/known_symbols.h"

#include <algorithm>

#include "daemon/models/sequence_of_kind.h"
#include "engine/model/surgery.h"
#include "engine/model/weights.h"

namespace moil::night {
namespace {

// Layers with a row for each symbol.
std::vector<std::string> layers_of_symbols(const StoredModel& model) {
  std::vector<std::string> layers = input_tables(model.description);
  if (model.task->teaches_itself()) layers.push_back(find_classifier(model.description));
  return layers;
}

}  // namespace

void learn_symbols(StoredModel& model, const std::vector<std::string>& fresh) {
  const std::vector<std::string> layers = layers_of_symbols(model);
  const bool is_shared = std::ranges::any_of(
      layers, [&](const std::string& layer) { return shares_weights(model.description, layer); });
  if (fresh.empty() || is_shared) return;
  const std::int64_t known = model.kind->symbols();
  model.kind = model.kind->with_symbols(fresh);
  const std::int64_t rows = model.kind->symbols();
  resize_tables(model.description, rows);
  if (model.task->teaches_itself()) {
    resize_classifier(model.description, rows);
    model.task = sequence_task_of(*model.kind);
  }
  const TensorShapes shapes = model.weights.shapes();
  for (const auto& [weight, dims] : shapes)
    for (const std::string& layer : layers)
      if (weight.starts_with(layer + ".")) model.weights.add_rows(weight, known, rows);
}

}  // namespace moil::night
