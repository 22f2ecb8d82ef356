// Rows of a table by their numbers, type "embedding": int32 [N] or [N, L] -> [N, width] or
// [N, L, width].
//
// Properties: rows, width. Weight: "weight" [rows, width]. Its gradient holds the rows that a step
// reads, so that neither a step's memory nor its time grows with the table, unless another layer
// shares the weight. A number that the table lacks is kBadData.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_embedding(const std::string& name,
                                                    const Properties& properties);

}  // namespace moil
