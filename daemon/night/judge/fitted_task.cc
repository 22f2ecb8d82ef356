#include "daemon/night/judge/fitted_task.h"

#include "daemon/night/maps/head_network.h"

namespace moil::night {

TaskPtr fitted_task(const JudgedHead& judged, const data::Mix& mix, FeatureReader& reader,
                    KernelSelector& kernels) {
  if (!judged.task.fitting({})) return nullptr;
  HeadNetwork head(judged.head, kernels);
  head.allocate(judged.weights);
  const auto outputs = head.network().output_info(0).dims.elements_per_sample();
  const MixTargets targets(judged.task, mix, static_cast<std::size_t>(outputs));
  const auto fitting = judged.task.fitting(head.form());
  for_each_sample(mix.train, targets, reader, {head.network(), judged.task, head.form()},
                  [&](std::int64_t, auto output, auto target) { fitting->add(output, target); });
  return fitting->result();
}

}  // namespace moil::night
