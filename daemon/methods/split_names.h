// What parameters call the two sides of the split.
#pragma once

#include "daemon/json/fields.h"
#include "datasets/identity/split.h"

namespace moil::data {

inline daemon::EnumNames<Split> enum_names(Split) {
  return {{Split::kTrain, "train"}, {Split::kValidation, "val"}};
}

}  // namespace moil::data
