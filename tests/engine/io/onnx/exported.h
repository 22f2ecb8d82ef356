// What comes back of a model that is exported and imported again.
#pragma once

#include <gtest/gtest.h>

#include "engine/io/model_json.h"
#include "engine/io/onnx/export/onnx_export.h"
#include "engine/io/onnx/onnx_reader.h"
#include "engine/io/onnx/onnx_writer.h"
#include "tests/engine/io/onnx/builder.h"

namespace moil::onnx {

inline Types types_of(const ImportedModel& model) {
  Types types;
  for (const auto& layer : model.description.layers) types.push_back(layer.type);
  return types;
}

// It is what it was.
inline void expect_fixed(const ImportedModel& model) {
  const std::string bytes = format_onnx(export_onnx(model.description, model.weights));
  const ImportedModel again = import_onnx(parse_onnx(bytes));
  EXPECT_EQ(format_model(model.description), format_model(again.description));
  ASSERT_EQ(model.weights.size(), again.weights.size());
  for (const auto& [name, weight] : model.weights) {
    ASSERT_TRUE(again.weights.contains(name)) << name;
    EXPECT_EQ(weight.dims, again.weights.at(name).dims) << name;
    EXPECT_EQ(weight.data, again.weights.at(name).data) << name;
  }
}

inline Types types_of_fixed(const ImportedModel& model) {
  expect_fixed(model);
  return types_of(model);
}

}  // namespace moil::onnx
