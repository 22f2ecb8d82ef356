// What the samples of a mix are held against: targets by the labels of the sample's own side.
//
// A side, global or local, speaks of the labels that some sample of it has (Task::targets). A label
// that nights have added since the model's anchor, or that this one adds, is one more that global
// samples are known to lack: they are what it is learned against, and no model before the nights
// tells.
//
// Constant after construction; asked from any thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "datasets/sampling/mix.h"
#include "engine/train/task.h"

namespace moil::night {

class MixTargets {
 public:
  // mix: in the model's rows, those behind its global classes new (class_space.h); not kept. What
  // Task::targets throws.
  MixTargets(const Task& task, const data::Mix& mix, std::size_t outputs);

  // As Targets::write, of a sample of the mix.
  void write(const data::MixedSample& sample, std::span<float> target) const;
  // Whether samples are their own targets (Task::teaches_itself()): then these are written of what
  // the network is shown of them, and write() writes nothing.
  bool are_shown() const { return are_shown_; }
  void write_shown(std::span<const float> shown, std::span<float> target) const {
    global_->write_shown(shown, target);
  }
  // What holds no signal has no label of which local samples speak: a classifier is told as much as
  // of a sample that denies them all.
  void write_silence(std::span<float> target) const;

 private:
  std::unique_ptr<Targets> global_, local_;
  std::vector<float> silence_;
  bool are_shown_ = false;
};

}  // namespace moil::night
