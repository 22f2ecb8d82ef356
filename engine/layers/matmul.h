// Products of matrices sample by sample: [N, ..., M, K] by [N, ..., K, L] to [N, ..., M, L].
//
// Property: transpose_b (false): the second input is [N, ..., L, K]. Plain layout, equal dims
// before the last two. Each matrix is a product of its own on one thread, so that a sample does not
// depend on its batch; the matrices are spread over the threads. Both inputs live until CD.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_matmul(const std::string& name,
                                                 const Properties& properties);

}  // namespace moil
