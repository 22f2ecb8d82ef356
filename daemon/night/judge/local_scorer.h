// Local quality: of a task that compares samples by the labels that local samples have or are said
// not to have, with global samples as examples of what those labels are not.
//
// So a device with one new tag has something to compare it with. A global sample lacks a local
// label that it does not have, even if its side does not speak of it (mix_targets.h). One
// thread.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "datasets/sampling/mix.h"
#include "engine/train/task.h"

namespace moil::night {

class LocalScorer {
 public:
  // local: the samples that are held out.
  LocalScorer(const Task& task, OutputForm form, const std::vector<data::MixedSample>& local);

  void add_local(std::span<const float> output, std::span<const float> target);
  // Does nothing if the task compares no samples, or there are no local ones.
  void add_global(std::span<const float> output, std::span<const float> target);
  [[nodiscard]] const Scorer& scorer() const { return *scorer_; }

 private:
  // unknown: the target of a local label of which the sample's is not known.
  void add(std::span<const float> output, std::span<const float> target, float unknown);

  const bool compares_;
  std::unique_ptr<Scorer> scorer_;
  std::set<data::ClassId> labels_;
  std::vector<float> target_;
};

}  // namespace moil::night
