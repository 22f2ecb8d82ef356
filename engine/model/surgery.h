// Changing a model: rows of its classifier for labels that the global model does not know, and rows
// of the tables that its input is looked up in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/model_description.h"

namespace moil {

// The layer whose rows are the classes: the last one with weights before the only output, a
// fully_connected or a conv2d with nothing but weightless one-input layers behind it.
// Throws kInvalidArgument if the model has no such layer.
[[nodiscard]] std::string find_classifier(const ModelDescription& model);

// What the classifier reads, if its outputs are products of rows and features, and a bias.
struct ClassifierInput {
  std::string value;
  std::vector<std::int64_t> dims;  // of one sample
  std::int64_t width = 0;          // features, as a row of the weights has them
  std::int64_t positions = 1;      // that a sample has features at, one after the other in memory
  std::string weight, bias;        // names of the classifier's weights
};

// For a fully connected classifier, or a 1x1 convolution, with a bias. Nothing of others, nor if
// an activation behind it could be flat for all samples.
[[nodiscard]] std::optional<ClassifierInput> classifier_input(const ModelDescription& model);

// The dims of the model's only output, with batch 1; and how many elements it has.
[[nodiscard]] Dims output_dims(const ModelDescription& model);
[[nodiscard]] std::int64_t output_elements(const ModelDescription& model);

// How many classes the classifier tells apart.
[[nodiscard]] std::int64_t classifier_classes(const ModelDescription& model);

// A batch norm behind the classifier, with nothing but weightless one-input layers behind it, is
// folded into the classifier: the same outputs, and rows that can be grown.
void fold_classifier_norm(ModelDescription& model, WeightMap& weights);

// The model with `classes` rows, and its weights with the old rows kept and the new ones drawn from
// (seed, layer name) as for a fresh layer. If an activation behind them could be flat for all
// samples, a ReLU's, the new ones begin on its steep side instead. Throws kInvalidArgument for
// fewer classes than before.
void grow_classifier(ModelDescription& model, WeightMap& weights, std::int64_t classes,
                     std::uint64_t seed);

// The layers that look the model's input up in a table: embeddings that read it as it is.
[[nodiscard]] std::vector<std::string> input_tables(const ModelDescription& model);
[[nodiscard]] std::int64_t table_rows(const ModelDescription& model, const std::string& table);
// Gives each of them at least so many rows; the weights are left alone. kInvalidArgument if one
// that lacks some shares its weights.
void resize_tables(ModelDescription& model, std::int64_t rows);

// A fresh classifier of `classes` rows; the weights are left alone (they no longer fit).
void resize_classifier(ModelDescription& model, std::int64_t classes);

}  // namespace moil
