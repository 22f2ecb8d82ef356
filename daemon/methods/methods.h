// Every method of the protocol, a table a group. docs/protocol.md describes them to clients.
#pragma once

#include "daemon/rpc/method.h"

namespace moil::daemon {

class Service;

// The handlers keep a reference to the service, which must outlive the table.
MethodTable job_methods(Service& service);
MethodTable schedule_methods(Service& service);
MethodTable label_add_methods(Service& service);
MethodTable label_methods(Service& service);
MethodTable label_sample_methods(Service& service);
MethodTable label_step_methods(Service& service);
MethodTable preview_methods(Service& service);
MethodTable cut_methods(Service& service);
MethodTable model_methods(Service& service);
MethodTable model_life_methods(Service& service);
MethodTable cache_methods(Service& service);
MethodTable system_methods(Service& service);
MethodTable learn_methods(Service& service);
MethodTable label_study_methods(Service& service);
MethodTable room_methods(Service& service);
MethodTable all_methods(Service& service);

}  // namespace moil::daemon
