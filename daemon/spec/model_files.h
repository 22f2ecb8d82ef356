// The files of a model's folder (models/model_folder.h says what they are), which a client may hand
// over open.
#pragma once

#include <array>
#include <string_view>

namespace moil::daemon {

inline constexpr std::array<std::string_view, 9> kModelFiles = {
    "model.json",       "weights.safetensors", "labels.json",    "preprocessing.json", "task.json",
    "calibration.json", "listening.json",      "imprinted.json", "imprintable.json"};

}  // namespace moil::daemon
