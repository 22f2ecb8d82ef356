// Whether a new model may take the old one's place, and what is said of it: from what was measured
// alone.
//
// Quality is told by the headline metric of the model's task: a classifier's accuracy. If the
// global labels are a model's own answers, that metric of global samples tells how much of them
// still is answered so, and its name is agreement. Global quality is held against the model before
// the night and against the model's anchor, so that many nights together cannot lose more than one
// may. What the guard asks for and nobody measured is not passed. Pure functions; safe from any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/json/fields.h"
#include "daemon/spec/job_spec.h"
#include "engine/train/task.h"

namespace moil::night {

// The metric's; empty: not measured.
struct Qualities {
  std::optional<double> before, after;
};

// A class with local samples.
struct LocalClass {
  std::string name;
  std::size_t trained = 0, held_out = 0;          // samples
  std::size_t right_before = 0, right_after = 0;  // of those held out
};

struct Anchor {
  std::int64_t version = 0;
  std::optional<double> global;  // its quality
  std::string why_not;           // it was not measured: a clause
};

struct Measured {
  Metric metric = {"accuracy"};     // of the model's task
  bool global_is_answered = false;  // Mix::global_is_answered
  Qualities global, local;
  std::size_t global_held_out = 0, local_held_out = 0, local_trained = 0;
  // Whether the labels of what is held out tell good answers from bad ones (measurable.h).
  bool global_tells = true, local_tells = true;
  std::optional<Anchor> anchor;  // if it is another version than the one before the night
  std::vector<LocalClass> local_classes;

  [[nodiscard]] Metric global_metric() const {
    Metric of_global = metric;
    if (global_is_answered) of_global.name = "agreement";
    return of_global;
  }
};

// Why the guard cannot pass any model of this night, known before it is trained: it asks for a side
// of which nothing is held out, or nothing that tells. At the field of the job description that
// asks, with what to do.
[[nodiscard]] std::optional<daemon::FieldError> not_measurable(const daemon::GuardSpec& guard,
                                                               const Measured& counts);

// Why the new model is kept back, with what to do; nothing if it passes.
[[nodiscard]] std::optional<std::string> objection(const daemon::GuardSpec& guard,
                                                   const Measured& measured);

// What is said of a model that passed.
[[nodiscard]] std::string verdict(const daemon::GuardSpec& guard, const Measured& measured);

// Whether global quality is held against anything.
[[nodiscard]] inline bool asks_for_global(const daemon::GuardSpec& guard) {
  return guard.max_global_drop < 1;
}

}  // namespace moil::night
