// What methods that change labels have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/rpc/method.h"
#include "datasets/identity/digest.h"

namespace moil::daemon {

class Service;

// The `step` of a method that changes labels: calls in a row that give the same one are undone
// together.
inline std::optional<std::string> check_step(const std::string& step) {
  constexpr std::size_t kMostBytes = 64;
  if (step.size() <= kMostBytes) return std::nullopt;
  return "is longer than " + std::to_string(kMostBytes) + " bytes";
}

// Does `change` in the background, notes the samples for the versions that are held against new
// labels (service/canary.h), and answers with what it returned.
void change_labels(Service& service, std::vector<data::Digest> samples, const Responder& responder,
                   std::function<Json()> change);

}  // namespace moil::daemon
