// Symbols that a model learns to know: ids of users and items, characters (datasets/kinds/kind.h).
#pragma once

#include <string>
#include <vector>

#include "daemon/models/model_folder.h"

namespace moil::night {

// Adds them to the model's kind, and a row for each to the tables that its input is looked up in
// and, if it is one of sequences, to its classifier: the row of what nobody knows, so that the
// model answers as before until it is trained. Does nothing to a model that shares the weights of
// such a layer with another: there they stay unknown.
void learn_symbols(StoredModel& model, const std::vector<std::string>& fresh);
void learn_symbols(ModelBundle& model, const std::vector<std::string>& fresh);

}  // namespace moil::night
