// Looks at local samples that no night has looked at: so that the daemon, which decodes nothing,
// knows which are of one scene, and no scene lies on both sides of the split. Then tells it which
// the night uses, before the mix is drawn: from then on none of them that is trained on is held
// out, whatever decided its side.
//
// What a sample looks like is told to the daemon in batches, as events; the night goes on when the
// label store has them. A night that is killed looks again only at what the store does not have.
// Samples that come while it looks are looked at, too, but not for ever: what comes later is left
// to the next night.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "daemon/night/data/decoding.h"
#include "daemon/night/stages/night_context.h"

namespace moil::night {

// One sentence of the samples that are held out but not judged by; empty if there are none.
[[nodiscard]] std::string passed_over_remark(std::size_t samples);

class SceneStage {
 public:
  explicit SceneStage(NightContext& night) : night_(night) {}

  // The night's local samples are as the label store has them afterwards. Throws Stopped; kIo if
  // the daemon records nothing of what it is told.
  void run();
  // Local samples of which it is not known what they look like, or not recorded that they are used:
  // no night can tell yet whether the like of them is held out.
  [[nodiscard]] std::unordered_set<data::Digest> not_known() const;
  // By this attempt.
  [[nodiscard]] std::size_t looked_at() const { return looked_at_; }

 private:
  using Indices = std::vector<std::size_t>;

  [[nodiscard]] Indices wanted() const;
  [[nodiscard]] Indices not_looked_at() const;
  void look_at(const Indices& samples);
  void use(const Indices& samples);
  [[nodiscard]] std::vector<data::SampleLikeness> likenesses_of(std::span<const std::size_t> batch,
                                                                DecodingRoom& room);
  void wait_for(const data::Digest& digest) const;

  NightContext& night_;
  std::unordered_set<data::Digest> passed_over_;  // too large for the room, or gone
  std::unordered_set<data::Digest> told_;         // to the daemon
  std::size_t looked_at_ = 0;
};

}  // namespace moil::night
