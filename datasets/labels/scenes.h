// The label store's scenes: what its samples look like, of which recordings they are pieces, and so
// which are of one scene. By what they look like only those come together that nights use.
//
// Expects the store's lock and an open write transaction, whose sides are told.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/sqlite/database.h"
#include "datasets/labels/label_types.h"
#include "datasets/labels/samples.h"
#include "datasets/labels/scene_division.h"
#include "datasets/labels/sides.h"

namespace moil::data {

class Scenes {
 public:
  Scenes(Database& database, const Samples& samples) : database_(database), samples_(samples) {}

  void record_likenesses(Sides& sides, std::span<const SampleLikeness> samples);
  void record_uses(Sides& sides, std::span<const Digest> samples);
  [[nodiscard]] bool has_pieces(const Digest& digest) const;
  void note_recording(std::int64_t sample, const Digest& recording);
  void divide_anew(Sides& sides, const std::set<std::int64_t>& samples);
  // What is left of scenes of which a sample was forgotten.
  void divide_rest(Sides& sides, const std::set<std::int64_t>& scenes);

 private:
  bool place_in_scene(const std::vector<SceneMember>& members);
  void rank_anew(std::int64_t sample);

  Database& database_;
  const Samples& samples_;
};

}  // namespace moil::data
