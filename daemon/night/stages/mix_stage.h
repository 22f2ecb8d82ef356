// Mix: which samples the night trains on and judges by.
//
// Reads the model's labels, the global pack and the label store, whose scenes are settled before;
// leaves mix.json, so that a
// resumed night has the same samples, whatever was labelled meanwhile.
#pragma once

#include "daemon/night/data/left_out.h"
#include "daemon/night/stages/night_context.h"
#include "daemon/night/stages/scene_stage.h"

namespace moil::night {

class MixStage {
 public:
  explicit MixStage(NightContext& night) : night_(night), scenes_(night) {}

  // Sets the context's mix.
  void run();
  // Draws anew without samples that turned out to be unreadable, and drops what was computed for
  // the mix before. The night is to be planned again.
  void leave_out(const UnreadableSamples& unreadable);

  const LeftOut& left_out() const { return left_out_; }
  const SceneStage& scenes() const { return scenes_; }

 private:
  bool restore();
  void draw(LeftOut left_out);

  NightContext& night_;
  SceneStage scenes_;
  LeftOut left_out_;
};

}  // namespace moil::night
