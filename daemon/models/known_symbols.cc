#include "daemon/models/known_symbols.h"

#include <algorithm>

#include "daemon/models/sequence_of_kind.h"
#include "engine/model/surgery.h"
#include "engine/model/weights.h"

namespace moil::night {
namespace {

// Layers with a row for each symbol.
template <class Model>
std::vector<std::string> layers_of_symbols(const Model& model) {
  std::vector<std::string> layers = input_tables(model.description);
  if (model.task->teaches_itself()) layers.push_back(find_classifier(model.description));
  return layers;
}

// add_rows(layers that want them, rows that are known, rows).
template <class Model, class AddRows>
void learn(Model& model, const std::vector<std::string>& fresh, const AddRows& add_rows) {
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
  add_rows(layers, known, rows);
}

bool is_of_one(const std::string& weight, const std::vector<std::string>& layers) {
  return std::ranges::any_of(
      layers, [&](const std::string& layer) { return weight.starts_with(layer + "."); });
}

}  // namespace

void learn_symbols(StoredModel& model, const std::vector<std::string>& fresh) {
  learn(model, fresh, [&](const auto& layers, std::int64_t known, std::int64_t rows) {
    const TensorShapes shapes = model.weights.shapes();
    for (const auto& [name, dims] : shapes)
      if (is_of_one(name, layers)) model.weights.add_rows(name, known, rows);
  });
}

void learn_symbols(ModelBundle& model, const std::vector<std::string>& fresh) {
  learn(model, fresh, [&](const auto& layers, std::int64_t known, std::int64_t rows) {
    for (auto& [name, tensor] : model.weights)
      if (is_of_one(name, layers)) give_rows(tensor, known, rows);
  });
}

}  // namespace moil::night
