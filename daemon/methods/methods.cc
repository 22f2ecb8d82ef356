#include "daemon/methods/methods.h"

#include <iterator>

namespace moil::daemon {

MethodTable all_methods(const Parts& by) {
  MethodTable all;
  for (const auto group :
       {job_methods, schedule_methods, label_add_methods, label_methods, label_sample_methods,
        label_step_methods, preview_methods, cut_methods, model_methods, listen_methods,
        model_life_methods, pack_methods, learn_methods, label_study_methods, cache_methods,
        system_methods, room_methods, backup_methods}) {
    MethodTable methods = group(by);
    std::move(methods.begin(), methods.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace moil::daemon
