// Bringing a model into the store: checked whole, then renamed into place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::night {

struct Import {
  std::filesystem::path source;
  std::filesystem::path pack;  // that its nights will mix from; empty: none is looked at
  std::string name;
  std::int64_t version = 0;
};

// Nothing half-done stays behind, nor a model whose pack cannot be read or is of samples or classes
// that it does not know. Throws what read_model_folder and the pack's readers throw.
[[nodiscard]] daemon::ImportResult import_model(const Import& import,
                                                const daemon::StateLayout& layout);

}  // namespace moil::night
