#include "daemon/night/judge.h"

#include <map>

#include "daemon/night/head_network.h"
#include "daemon/night/mix_record.h"
#include "engine/train/evaluate.h"

namespace moil::night {
namespace {

std::optional<double> accuracy(Network& network, const std::vector<data::MixedSample>& samples,
                               FeatureReader& reader, const EachSample& each = {}) {
  if (samples.empty()) return std::nullopt;
  FeatureSource source(
      samples, static_cast<std::size_t>(network.output_info(0).dims.elements_per_sample()), reader);
  return evaluate(network, source, each).accuracy;
}

}  // namespace

Measured counted(const data::Mix& mix) {
  Measured m;
  m.global_held_out = mix.global_validation.size();
  m.local_held_out = mix.local_validation.size();
  m.local_trained = mix.train.size() - count_global(mix);
  return m;
}

std::vector<LocalClass> local_classes(const data::Mix& mix, const Judgement& before,
                                      const Judgement& after) {
  std::map<data::ClassId, LocalClass> classes;
  for (const data::MixedSample& s : mix.train) {
    if (s.ref.source != data::Source::kLocal) continue;
    for (const data::ClassId label : s.labels) ++classes[label].trained;
  }
  for (std::size_t i = 0; i < mix.local_validation.size(); ++i) {
    for (const data::ClassId label : mix.local_validation[i].labels) {
      LocalClass& c = classes[label];
      ++c.held_out;
      c.right_before += before.local_right.at(i) ? 1 : 0;
      c.right_after += after.local_right.at(i) ? 1 : 0;
    }
  }
  std::vector<LocalClass> found;
  for (auto& [label, c] : classes) {
    c.name = mix.classes.at(label);
    found.push_back(std::move(c));
  }
  return found;
}

Judgement judge(const ModelDescription& head, const WeightsOfPart& weights, const data::Mix& mix,
                FeatureReader& reader, KernelSelector& kernels) {
  HeadNetwork judged(head, kernels);
  judged.allocate(weights);
  Judgement found;
  found.global = accuracy(judged.network(), mix.global_validation, reader);
  found.local = accuracy(judged.network(), mix.local_validation, reader,
                         [&](std::int64_t, bool right) { found.local_right.push_back(right); });
  return found;
}

}  // namespace moil::night
