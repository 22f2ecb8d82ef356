// How good a model is on held-out samples, through the night's own feature maps.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "daemon/models/calibration.h"
#include "daemon/models/model_weights.h"
#include "daemon/night/data/mix_targets.h"
#include "daemon/night/judge/guard.h"
#include "daemon/night/maps/feature_source.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/train/evaluate.h"

namespace moil::night {

// A label's samples that are held out, and those of them that the model says have it.
struct Right {
  std::size_t held_out = 0, right = 0;
};

struct Judgement {
  std::vector<Score> global,
      local;  // the task's, its headline first; empty if nothing is held out
  std::vector<std::vector<std::uint32_t>> local_said;  // the labels that each local sample got
  // Filled if outputs are labels.
  std::map<data::ClassId, Right> global_right, local_right;
  std::optional<Calibration> calibration;  // if it was asked for, of one of several classes

  std::optional<double> headline_global() const { return headline(global); }
  std::optional<double> headline_local() const { return headline(local); }

 private:
  static std::optional<double> headline(const std::vector<Score>& scores) {
    return scores.empty() ? std::nullopt : scores[0].value;
  }
};

// {"accuracy": 0.97, ...}; null for what the samples do not tell.
[[nodiscard]] nlohmann::json to_json(const std::vector<Score>& scores);

// A list of {"label", "global": {"held_out", "before", "after"}, "local"} of what both models said
// of each label; null in place of a side of which nothing is held out.
[[nodiscard]] nlohmann::json label_scores(const data::Mix& mix, const Judgement& before,
                                          const Judgement& after);

// How many samples there are to train on and to judge by; nothing is measured yet.
[[nodiscard]] Measured counted(const data::Mix& mix, const Task& task);

// What was learned of each class with local samples, by name: from what both models said.
[[nodiscard]] std::vector<LocalClass> local_classes(const data::Mix& mix, const Judgement& before,
                                                    const Judgement& after);

// Who is asked: an allocated network behind the reader's maps, and what its outputs are.
struct Asked {
  Network& network;
  const Task& task;
  OutputForm form;
};
// Tells the one answer of each sample's parts, in the samples' order; of samples that teach
// themselves one part after the other, each with its sample's number.
void for_each_sample(const std::vector<data::MixedSample>& samples, const MixTargets& targets,
                     FeatureReader& reader, const Asked& asked, const EachSample& each);

struct JudgedHead {
  // From the split to the outputs. There may be fewer labels than in the mix: one beyond them is
  // never said.
  const ModelDescription& head;
  const WeightsOfPart& weights;
  const Task& task;
  bool calibrates = false;  // if it can: every held-out sample costs some exponentials a class
};
// If the task compares samples, global ones are the examples of what local labels are not.
[[nodiscard]] Judgement judge(const JudgedHead& judged, const data::Mix& mix, FeatureReader& reader,
                              KernelSelector& kernels);

}  // namespace moil::night
