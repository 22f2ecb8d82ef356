#include "engine/train/evaluate.h"

#include <algorithm>
#include <vector>

namespace moil {

Evaluation evaluate(Network& network, BatchSource& source, const EachSample& each) {
  const std::int64_t batch = network.input_info(0).dims[0];
  const std::int64_t classes = network.output_info(0).dims.elements_per_sample();
  std::vector<float> targets(static_cast<std::size_t>(batch * classes));
  std::vector<std::int64_t> samples;
  const auto best = [classes](const float* row) {
    return std::max_element(row, row + classes) - row;
  };
  Evaluation result;
  std::int64_t right = 0;
  for (std::int64_t begin = 0; begin < source.size(); begin += batch) {
    samples.clear();
    for (std::int64_t i = begin; i < std::min(begin + batch, source.size()); ++i)
      samples.push_back(i);
    source.read(samples, network.input(0), targets.data());
    network.forward();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) * classes;
      const float* target = targets.data() + row;
      const float chosen = target[best(network.output(0) + row)];
      const bool is_right = chosen > 0 && chosen >= target[best(target)];
      right += is_right ? 1 : 0;
      if (each) each(samples[i], is_right);
    }
    result.samples += static_cast<std::int64_t>(samples.size());
  }
  if (result.samples > 0)
    result.accuracy = static_cast<double>(right) / static_cast<double>(result.samples);
  return result;
}

}  // namespace moil
