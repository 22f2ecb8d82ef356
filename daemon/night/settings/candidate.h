// What a night chooses by trials, and the fixed recipe that fills up the rest of a job description.
//
// Only fields that the job leaves open (JobSpec::open) are filled; what a user sets is kept. Pure
// functions; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>

#include "base/json/json.h"
#include "daemon/spec/job_spec.h"
#include "engine/train/task.h"

namespace moil::night {

// Steps count, not passes: a small set is gone through more often. A classifier's steps cost
// little; rows that were imprinted are as good after few of them as they become.
inline constexpr int kDeepSteps = 600, kClassifierSteps = 1600, kFewClassifierSteps = 160;

struct Candidate {
  std::optional<int> layers = 1;  // LF(n); empty: all
  double learning_rate = 0;
  int views = 1;
  int steps = kDeepSteps;  // of a whole night
  bool operator==(const Candidate&) const = default;
};
// {"layers": 1 | "all", "learning_rate": 0.03, "views": 1, "steps": 1600}
[[nodiscard]] nlohmann::json to_json(const Candidate& candidate);
[[nodiscard]] Candidate candidate_from_json(const nlohmann::json& json);

// What a trial trains of the steps that a whole night does.
inline constexpr double kTrialPart = 1.0 / 3;

// With the optimizer that the model's task trains best with, if the job leaves that open: Adam of
// sequences, whose layers' gradients differ by orders of size. A job that says how SGD is to run
// has it.
[[nodiscard]] daemon::JobSpec with_usual_optimizer(daemon::JobSpec spec, const Task& task);

// The rate of a depth: a classifier learns from fixed features, layers below it move
// what was learned before. Those of a model of sequences have most to learn of another language.
[[nodiscard]] double usual_rate(const daemon::OptimizerSpec& optimizer, bool classifier_alone,
                                const Task& task);

// Whether anything learns in training; if nothing does, no trial tells anything.
[[nodiscard]] bool trains(const daemon::JobSpec& spec);

// The job with the candidate and the recipe in its open fields. train: samples of an epoch; part:
// of the steps that a whole night takes.
[[nodiscard]] daemon::JobSpec filled(daemon::JobSpec spec, const Candidate& candidate,
                                     std::size_t train, double part = 1);

// The fields that were open in `job`, with what `settled` has there: a merge patch of the
// description.
[[nodiscard]] nlohmann::json settled_fields(const daemon::JobSpec& job,
                                            const daemon::JobSpec& settled);

}  // namespace moil::night
