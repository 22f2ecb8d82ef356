// Task "tag": a sample has any number of labels; each output is one label's, by itself.
//
// Sigmoid cross-entropy, summed over the labels of a sample. The headline is the area under the ROC
// curve, the mean over labels that some samples have and others lack (MoIL, §5); beside it mean
// average precision, and F1 at each label's threshold. Soft targets are the model's probabilities.
#pragma once

#include "engine/train/task.h"
#include "engine/train/tasks/tag_thresholds.h"

namespace moil {

struct TagDescription {
  // A label that no sample of an origin has was never looked for there: those samples may have it,
  // and are no examples of what lacks it. Else they are.
  bool unnamed_is_unknown = true;
  TagThresholds thresholds = {};  // of probabilities; those of 0.5 may be left out
};

[[nodiscard]] TaskPtr tag_task(TagDescription description = {});
// {"task": "tag", "unnamed": "unknown" or "absent", "thresholds": [0.5, ...]}, one a label, in the
// labels' order; fewer than labels are fine. kInvalidArgument.
[[nodiscard]] TaskPtr read_tag(const nlohmann::json& json);

}  // namespace moil
