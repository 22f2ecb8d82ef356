// The review of labels on a terminal: one sample after the other is named, with what the model
// takes it for, and its label is asked for.
#pragma once

#include <istream>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

// Reads answers from `in`, a line each, until there is no sample or no line left; the exit status.
// model: whose proposals are shown; empty if there is only one.
int review_on_terminal(Session& session, const std::string& model, std::istream& in);

}  // namespace moil::daemon::ctl
