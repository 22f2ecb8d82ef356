// A task: what a model's outputs are for.
//
// It names the loss that trains the model, makes targets of a sample's labels, says what the
// outputs answer, and measures how good answers are. The description of a model's task is JSON and
// part of the model's folder ({"task": "tag", ...}). Whoever trains, judges or asks a model asks
// its task and knows nothing else of what outputs mean. docs/tasks.md says how to add one.
//
// A Task is immutable and may be asked from any thread; so are its Targets. A Scorer and a
// TaskFitting are one thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/ending.h"

namespace moil {

// What quality is told by.
struct Metric {
  std::string name;  // as a sentence has it: "accuracy"
  bool higher_is_better = true;
  bool is_fraction = true;  // of 1, told in percent

  // By how much `after` is worse than `before`; below 0 if it is better.
  double loss_between(double before, double after) const {
    return higher_is_better ? before - after : after - before;
  }
};

struct Score {
  std::string name;             // in JSON: "accuracy"
  std::optional<double> value;  // nothing if the samples do not show it
};

// What the outputs of samples are held against, by the samples' labels.
class Targets {
 public:
  virtual ~Targets() = default;
  // labels: numbers into the names that the targets were made for; one or more. `target` has an
  // element an output. A label that has no output is passed over. An element that is NaN counts in
  // no loss and in no score, unless something else is known of it (a soft target). If a sample is
  // of one label alone, as a classifier's is, NaN says that it may be that: softmax cross-entropy
  // asks for any of those that are NaN. denied: labels that the sample is said not to have, none of
  // `labels`; if it has any, there may be no labels: then nothing else is said of it.
  virtual void write(std::span<const std::uint32_t> labels, std::span<const std::uint32_t> denied,
                     std::span<float> target) const = 0;
  // The same of a sample that teaches itself (Task::teaches_itself()); shown: what the network is
  // shown of it, in floats.
  virtual void write_shown(std::span<const float> /*shown*/, std::span<float> /*target*/) const {}
};

class Scorer {
 public:
  virtual ~Scorer() = default;
  // One sample: what the network gave, and what it is held against.
  virtual void add(std::span<const float> output, std::span<const float> target) = 0;
  // Scores all samples so far: first the task's headline, then whatever else is worth telling.
  [[nodiscard]] virtual std::vector<Score> scores() const = 0;
  // The same on a finer scale, larger is better: to tell settings apart by few samples. Nothing
  // if the headline is fine enough.
  [[nodiscard]] virtual std::optional<double> quality() const { return std::nullopt; }
};

class Task;

// Chooses what of a task follows from what a trained model says, as thresholds do, by samples that
// it was trained on.
class TaskFitting {
 public:
  virtual ~TaskFitting() = default;
  // As Scorer::add().
  virtual void add(std::span<const float> output, std::span<const float> target) = 0;
  // The task with what was chosen.
  [[nodiscard]] virtual std::shared_ptr<const Task> result() const = 0;
};

// What the functions below have to know of a model's output.
struct OutputForm {
  bool probabilities = false;  // it is made of them already, in training it is not
};

class Task {
 public:
  virtual ~Task() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // "classify"
  // What task_from_json() reads.
  [[nodiscard]] virtual nlohmann::json to_json() const = 0;

  // What trains a complete model. kInvalidArgument or kUnimplemented, with what to do, if the
  // model's output does not fit the task.
  [[nodiscard]] virtual LossDescription loss(const ModelDescription& model) const = 0;
  // Whether every output is a label's, so that labels can be added; else outputs are numbers that
  // have names.
  [[nodiscard]] virtual bool outputs_are_labels() const = 0;
  // Whether a sample's targets are what it holds itself, as the next symbol of a text is, and not
  // its labels. Each of its parts is then scored by itself, nothing is taught of it but that, and
  // outputs have no names.
  [[nodiscard]] virtual bool teaches_itself() const { return false; }
  // Makes the targets of samples with these labels, for a network of so many outputs. named: the
  // labels, by number, that some sample of the same origin has, without which nothing can be said
  // of what a sample lacks; more than outputs are fine. kInvalidArgument, naming the label, for one
  // that can be no target.
  [[nodiscard]] virtual std::unique_ptr<Targets> targets(
      const std::vector<std::string>& labels, std::size_t outputs,
      std::span<const std::uint32_t> named) const = 0;
  // Turns an output into what this model teaches another of the sample: a target. Several outputs
  // are joined as targets, too, for the mean of logits says nothing of the mean of probabilities.
  virtual void soften(std::span<float> output, OutputForm form) const = 0;
  // The other way: turns a target into an output of this form that says it; finite.
  virtual void harden(std::span<float> target, OutputForm form) const = 0;

  // Turns an output into what is told: probabilities, or numbers in the user's unit.
  virtual void answer(std::span<float> output, OutputForm form) const = 0;
  // The labels that an output says, by their number; none if outputs are no labels'.
  [[nodiscard]] virtual std::vector<std::uint32_t> said(std::span<const float> output,
                                                        OutputForm form) const = 0;

  // What reports tell and the guard compares.
  [[nodiscard]] virtual Metric headline() const = 0;
  // Whether a label's score needs samples without the label beside those with it.
  [[nodiscard]] virtual bool compares_samples() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Scorer> scorer(OutputForm form) const = 0;

  // Null if there is nothing to choose.
  [[nodiscard]] virtual std::unique_ptr<TaskFitting> fitting(OutputForm /*form*/) const {
    return nullptr;
  }
};

using TaskPtr = std::shared_ptr<const Task>;

// What Task::to_json() gave; null is a classifier's, as all models were once. kInvalidArgument,
// naming the field, for what no task describes.
[[nodiscard]] TaskPtr task_from_json(const nlohmann::json& json);

// Adds a task of the caller's, before any thread asks for one. kAlreadyExists.
using TaskReader = std::function<TaskPtr(const nlohmann::json&)>;
void register_task(const std::string& name, TaskReader reader);
[[nodiscard]] std::vector<std::string> task_names();

}  // namespace moil
