// Judge: the models before and after the night, and the model's anchor, on held-out samples.
//
// Reads and leaves profiles/accuracy/NAME.json (accuracy_record.h).
#pragma once

#include "daemon/night/judge/accuracy_record.h"
#include "daemon/night/judge/judge.h"
#include "daemon/night/plan/night_model.h"
#include "daemon/night/stages/night_context.h"

namespace moil::night {

class JudgeStage {
 public:
  JudgeStage(NightContext& night, const NightModel& model, FeatureReader& reader)
      : night_(night), model_(model), reader_(reader) {}

  // The anchor is known from the night that made it, as a rule, or from one that began with it;
  // else it is judged, before training takes its memory.
  void look_at_anchor();
  // When the new version is written; adds its calibration, and what its task chooses.
  void run();

  // As far as it is known by now.
  [[nodiscard]] Measured measured() const;
  // All that the model's task tells of both models.
  [[nodiscard]] nlohmann::json scores() const;
  // By label, if outputs are labels; else null.
  [[nodiscard]] nlohmann::json label_scores() const;
  // What local samples are taken for, and whose answer changed (answers.h), if outputs are
  // labels; else null.
  [[nodiscard]] nlohmann::json confusion() const;
  [[nodiscard]] nlohmann::json changed_answers() const;
  // The model's after the night; null if too few samples are held out, or it has none.
  [[nodiscard]] nlohmann::json calibration() const;
  // What the guard held global accuracy against, beside the model before the night; null: nothing.
  [[nodiscard]] nlohmann::json anchor_details() const;

 private:
  AccuracyRecord accuracies() const;

  NightContext& night_;
  const NightModel& model_;
  FeatureReader& reader_;
  std::optional<Anchor> anchor_;  // if it is another version than the base
  Judgement before_, after_;
};

}  // namespace moil::night
