#include "engine/layers/shapes.h"

#include "base/error.h"

namespace moil {

void fail_shape(const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); }

void require_inputs(std::span<const TensorInfo> inputs, std::size_t count) {
  if (inputs.size() != count) {
    fail_shape("takes " + std::to_string(count) + (count == 1 ? " input" : " inputs") + ", has " +
               std::to_string(inputs.size()));
  }
}

void require_at_least(std::span<const TensorInfo> inputs, std::size_t count) {
  if (inputs.size() < count) {
    fail_shape("takes at least " + std::to_string(count) + " inputs, has " +
               std::to_string(inputs.size()));
  }
}

void require_same_dims(std::span<const TensorInfo> inputs) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (!(inputs[i].dims == inputs[0].dims) || inputs[i].layout != inputs[0].layout) {
      fail_shape("input " + std::to_string(i) + " is " + inputs[i].dims.to_string() +
                 ", expected " + inputs[0].dims.to_string() + " as input 0");
    }
  }
}

void require_image(const TensorInfo& info) {
  if (info.dims.rank() != 4 || info.layout != Layout::kChannelsLast) {
    fail_shape("takes images [N, C, H, W], has " + info.dims.to_string());
  }
}

std::int64_t require_rows(const TensorInfo& info) {
  if (info.dims.rank() < 2 || info.layout != Layout::kPlain) {
    fail_shape("takes rows [N, ..., F], has " + info.dims.to_string() +
               (info.layout == Layout::kPlain ? "" : ", an image"));
  }
  return info.dims.back();
}

std::int64_t channels_of(const TensorInfo& info) {
  if (info.dims.rank() == 0) fail_shape("takes tensors with a batch dimension, has a scalar");
  return info.layout == Layout::kChannelsLast ? info.dims[1] : info.dims.back();
}

std::int64_t rows_of(const TensorInfo& info) { return info.dims.elements() / channels_of(info); }

}  // namespace moil
