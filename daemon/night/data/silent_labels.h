// Labels whose recordings are mostly silent: little of them teaches anything.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/sampling/mix.h"

namespace moil::night {

struct SilentLabel {
  std::string label;
  std::size_t samples = 0;        // local ones, of both sides
  std::size_t mostly_silent = 0;  // most of whose parts hold no signal
  std::size_t silent = 0;         // of them, those that hold none at all: they teach no label
};

// Labels most of whose samples are mostly silent, or any of whose samples hold no signal at all; by
// name.
[[nodiscard]] std::vector<SilentLabel> silent_labels(const data::Mix& mix);
// [{"label", "samples", "mostly_silent", "silent"}]
[[nodiscard]] nlohmann::json to_json(const std::vector<SilentLabel>& labels);
// A sentence.
[[nodiscard]] std::string silence_remark(const SilentLabel& label);

}  // namespace moil::night
