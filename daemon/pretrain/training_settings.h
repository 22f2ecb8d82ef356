// How a network is trained: as the command line says, and as the data asks if it says nothing.
#pragma once

#include "daemon/pretrain/arguments.h"

namespace moil::pretrain {

// What can be known before there are samples: the settings of `selection` among them, and the
// model to begin with. kInvalidArgument, kBadData, and what reading that throws.
void settle_before_data(Arguments& arguments);
// The rest, by the samples that there are.
void settle_by(const Selection& selection, Arguments& arguments);

}  // namespace moil::pretrain
