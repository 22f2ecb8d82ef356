// Kernels made of products of matrices, over either provider of products.
#pragma once

#include <memory>
#include <string>

#include "engine/device/conv/conv_kernel.h"
#include "engine/kernels/gemm/matrix_product.h"

namespace moil {

// Any shape that is not depthwise(). With fusion.constant_weights the product must be one whose
// rows do not depend on each other.
std::unique_ptr<ConvKernel> make_gemm_conv_kernel(const std::string& name, const ConvShape& shape,
                                                  ConvStep step, const ConvFusion& fusion,
                                                  const MatrixProduct& product);

// Throws kFailedPrecondition if the thread count is no longer the one kernels were made for.
void require_threads(int planned);

}  // namespace moil
