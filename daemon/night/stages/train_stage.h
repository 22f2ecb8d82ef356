// Train: the head, from the feature maps; then the new version's weights are written.
//
// Leaves train.checkpoint (engine/train/checkpoint.h) with the curve of epochs beside it, and
// models/NAME/.incoming-VERSION/, which promoting renames.
#pragma once

#include <set>

#include "daemon/night/judge/judge.h"
#include "daemon/night/stages/night_context.h"
#include "daemon/night/stages/plan_stage.h"
#include "daemon/night/train/head_training.h"
#include "engine/tensor/swapper.h"

namespace moil::night {

class TrainStage {
 public:
  TrainStage(NightContext& night, PlanStage& plan, FeatureReader& reader, const Teacher& teacher)
      : night_(night), plan_(plan), reader_(reader), teacher_(teacher) {}

  // Trains, if there is something to train.
  void run();
  // As they are now, trained or not.
  WeightsOfPart weights() const;
  // What was trained goes to the disk at once, so that nothing of it is in memory while it is
  // judged; the plan's model then has its weights from there.
  void write_version();

  // Null if nothing trains. After write_version() its weights are gone.
  const HeadTraining* training() const { return training_.get(); }
  const nlohmann::json& curve() const { return curve_; }
  std::size_t peak_bytes() const { return peak_; }
  const SwapStatistics& swapped() const { return swapped_; }

 private:
  std::unique_ptr<HeadTraining> make_training();
  std::uint64_t room_for_maps();
  Trainer::Callbacks callbacks(const FeatureSource& source);
  void save();
  bool after_step(std::int64_t step, std::int64_t total, double loss);
  void report_step(std::int64_t step, std::int64_t total, double loss);
  void after_epoch(const EpochSummary& summary);
  NamedTensor weight(const std::string& name) const;

  NightContext& night_;
  PlanStage& plan_;
  FeatureReader& reader_;
  const Teacher teacher_;
  std::unique_ptr<HeadTraining> training_;
  std::set<std::string> trained_;  // "LAYER.WEIGHT", while training_ has them
  nlohmann::json curve_ = nlohmann::json::array();
  std::size_t peak_ = 0;
  SwapStatistics swapped_;
  std::chrono::steady_clock::time_point last_save_{}, last_progress_{};
};

}  // namespace moil::night
