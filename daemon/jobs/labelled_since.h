// How many samples got labels after a moment that a sample's id tells: asked for by every schedule,
// again and again. All ids that have labels are kept, and read again when the store has changed.
// Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/labels/label_store.h"

namespace moil::daemon {

class LabelledSince {
 public:
  // `labels` is a view of the store by a connection of its own.
  explicit LabelledSince(const data::LabelStore& labels) : labels_(labels) {}

  [[nodiscard]] std::size_t count(std::int64_t id) const;

 private:
  const data::LabelStore& labels_;
  mutable std::int64_t version_ = -1;  // of the store's data that the ids are of
  mutable std::vector<std::int64_t> ids_;
};

}  // namespace moil::daemon
