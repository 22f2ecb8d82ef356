// Symbols that a model learns to know: ids of users and items (datasets/kinds/kind.h).
#pragma once

#include <string>
#include <vector>

#include "daemon/models/model_folder.h"

namespace moil::night {

// Adds them to the model's kind, and a row for each to the tables that its input is looked up in:
// the row of what nobody knows, so that the model answers as before until it is trained.
// kInvalidArgument if a table shares its weights.
void learn_symbols(StoredModel& model, const std::vector<std::string>& fresh);

}  // namespace moil::night
