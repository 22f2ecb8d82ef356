// Every method of the protocol, a table a group. docs/protocol.md describes them to clients.
#pragma once

#include "daemon/service/parts.h"

namespace moil::daemon {

// `by` makes what a row runs of a function that takes the call, the responder if it answers
// later, and the parts of the service that it works with.
MethodTable job_methods(const Parts& by);
MethodTable schedule_methods(const Parts& by);
MethodTable label_add_methods(const Parts& by);
MethodTable label_methods(const Parts& by);
MethodTable label_sample_methods(const Parts& by);
MethodTable label_step_methods(const Parts& by);
MethodTable preview_methods(const Parts& by);
MethodTable cut_methods(const Parts& by);
MethodTable model_methods(const Parts& by);
MethodTable listen_methods(const Parts& by);
MethodTable model_life_methods(const Parts& by);
MethodTable pack_methods(const Parts& by);
MethodTable cache_methods(const Parts& by);
MethodTable system_methods(const Parts& by);
MethodTable learn_methods(const Parts& by);
MethodTable label_study_methods(const Parts& by);
MethodTable backup_methods(const Parts& by);
MethodTable room_methods(const Parts& by);
MethodTable all_methods(const Parts& by);

}  // namespace moil::daemon
