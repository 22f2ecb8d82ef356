// What one call changes of the label store: all of it or nothing, and sides follow at its end
// (LabelStore::commit).
#pragma once

#include <cstdint>
#include <set>

#include "base/sqlite/database.h"
#include "datasets/labels/sides.h"

namespace moil::data {

struct LabelChange {
  explicit LabelChange(Database& database)
      : transaction(database, Transaction::Kind::kWrite), sides(database) {}
  Transaction transaction;
  Sides sides;
  std::set<std::int64_t> bereft;  // scenes of which a sample was forgotten
};

}  // namespace moil::data
