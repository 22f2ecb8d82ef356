// What a model's features tell of the labels of the label store: label.audit,
// label.suggest, label.meanings.
//
// Runs in a worker of its own, beside a night or by day. Changes no labels; the feature maps that
// it computes are there for the next look and the next night (study_maps.h).
#pragma once

#include <cstddef>
#include <functional>

#include "daemon/json/fields.h"
#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"
#include "daemon/study/study_maps.h"

namespace moil::night {

// The file's model, frozen layers, cache and threads count; no pack is read.

// The reply of label.audit (docs/protocol.md): labels that are likely wrong, `limit` at most, alike
// samples with different labels or on both sides of the split, and labels of one sample.
[[nodiscard]] Json audit_labels(const daemon::StateLayout& layout, const daemon::JobFile& file,
                                std::size_t limit, const StudyProgress& progress = {});

// What is found so far, some samples at a time: entries of the reply's list, without their order.
using StudyPortion = std::function<void(const Json& suggestions)>;

// The reply of label.suggest: the model's proposals for unlabelled samples, `limit` at most, the
// most useful to label first (useful_order.h). portion: told of samples in the order in which they
// were added, as soon as they are read.
[[nodiscard]] Json suggest_labels(const daemon::StateLayout& layout, const daemon::JobFile& file,
                                  std::size_t limit, const StudyProgress& progress = {},
                                  const StudyPortion& portion = {});

// The reply of label.meanings: for each local label the model's labels that it may mean.
[[nodiscard]] Json meanings_of_labels(const daemon::StateLayout& layout,
                                      const daemon::JobFile& file,
                                      const StudyProgress& progress = {});

}  // namespace moil::night
