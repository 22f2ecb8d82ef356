// The same elements in the same logical order under other dims, type "reshape": [N, ...] to
// [N, dims...].
//
// Properties: dims, of one sample; layout ("channels_last" or "plain"), of a result of rank 4: an
// image, or rows as sequences have them. Shares its memory if the elements lie in that order.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_reshape(const std::string& name,
                                                  const Properties& properties);

}  // namespace moil
