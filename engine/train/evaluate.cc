#include "engine/train/evaluate.h"

#include <algorithm>
#include <vector>

namespace moil {

void for_each_answer(Network& network, BatchSource& source, const EachSample& each) {
  const std::int64_t batch = network.input_info(0).dims[0];
  const auto outputs = static_cast<std::size_t>(network.output_info(0).dims.elements_per_sample());
  std::vector<float> targets(static_cast<std::size_t>(batch) * outputs);
  const NetworkBatch inputs(network);
  const BatchTensor target{"target", outputs, targets};
  std::vector<std::int64_t> samples;
  for (std::int64_t begin = 0; begin < source.size(); begin += batch) {
    samples.clear();
    for (std::int64_t i = begin; i < std::min(begin + batch, source.size()); ++i)
      samples.push_back(i);
    source.read(samples, {inputs.inputs(), {&target, 1}});
    network.forward();
    for (std::size_t i = 0; i < samples.size(); ++i)
      each(samples[i], {network.output(0) + i * outputs, outputs}, {target.row(i), outputs});
  }
}

std::vector<Score> evaluate(Network& network, BatchSource& source, const Task& task,
                            OutputForm form) {
  const std::unique_ptr<Scorer> scorer = task.scorer(form);
  for_each_answer(network, source,
                  [&](std::int64_t, auto output, auto target) { scorer->add(output, target); });
  return scorer->scores();
}

}  // namespace moil
