// How a network is trained, of what the command line says and what it leaves out.
#pragma once

#include "daemon/pretrain/arguments.h"

namespace moil::pretrain {

// What can be known before there are samples: the settings of `selection` among them.
// kInvalidArgument, kBadData.
void settle_before_data(Arguments& arguments);
// The rest, by the samples that there are.
void settle_by(const Selection& selection, Arguments& arguments);

}  // namespace moil::pretrain
