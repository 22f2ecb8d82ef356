// The classes of a night: the model's rows in their order, then rows for what is new.
#pragma once

#include <string>
#include <vector>

#include "datasets/sampling/mix.h"

namespace moil::night {

// A mix counts classes from the pack's; the model may know more (what earlier nights taught it).
// Renumbers the mix's labels to the model's rows; classes that the model lacks follow, in the mix's
// order. kInvalidArgument if a class of the pack is not among the model's labels.
void renumber_classes(data::Mix& mix, const std::vector<std::string>& model_labels);

}  // namespace moil::night
