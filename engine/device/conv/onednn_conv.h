// Convolutions by oneDNN, on our memory and with our scratchpad.
#pragma once

#include <memory>
#include <string>

#include "engine/device/conv/conv_kernel.h"

namespace moil {

enum class OnednnAlgorithm : std::uint8_t {
  kDirect,         // images stay channels-last
  kDirectBlocked,  // images are reordered to the library's own format and back
  kWinograd,       // the same, with Winograd's transform
};

// Null if the library has no such implementation for the shape (its slow reference does not
// count). With fusion.constant_weights samples are computed one by one, each by the same primitive.
std::unique_ptr<ConvKernel> make_onednn_conv_kernel(const std::string& name, const ConvShape& shape,
                                                    ConvStep step, const ConvFusion& fusion,
                                                    OnednnAlgorithm algorithm);

}  // namespace moil
