#include "engine/io/onnx/problems.h"

#include <algorithm>

#include "base/error.h"

namespace moil::onnx {

void Problems::refuse_if_any(std::size_t parts, const std::string& name) const {
  constexpr std::size_t kMostTold = 50;
  if (all_.empty()) return;
  std::string text = std::to_string(all_.size()) + " of " + std::to_string(parts) + " " + name +
                     " are not supported:";
  for (std::size_t i = 0; i < std::min(all_.size(), kMostTold); ++i) text += "\n  " + all_[i];
  if (all_.size() > kMostTold)
    text += "\n  and " + std::to_string(all_.size() - kMostTold) + " more";
  throw Error(ErrorCode::kUnimplemented, text);
}

}  // namespace moil::onnx
