// The store's scenes: what its samples look like, which are of one scene, and on which side of the
// split a scene lies.
#include <algorithm>
#include <set>

#include "datasets/labels/label_store.h"
#include "datasets/labels/scene_book.h"

namespace moil::data {
namespace {

// Of a scene: what must lie on a side, for a night may have used it there, or the user said so.
constexpr const char* kBoundToTrain =
    "SELECT count(*) FROM samples WHERE scene = ? AND (used = 1 OR split_chosen = 1) AND split = 0";
constexpr const char* kBoundToValidation =
    "SELECT count(*) FROM samples WHERE scene = ? AND (used = 1 OR split_chosen = 1) AND split = 1";
constexpr const char* kFirstSplit = "SELECT split FROM samples WHERE scene = ? ORDER BY id LIMIT 1";

}  // namespace

void LabelStore::record_likenesses(std::span<const SampleLikeness> samples) {
  const std::lock_guard guard(mutex_);
  Transaction transaction(database_, Transaction::Kind::kWrite);
  const auto fresh = join_scenes(samples);
  Statement use(database_, "UPDATE samples SET used = 1 WHERE id = ?");
  for (const auto& [id, likeness] : fresh) use.bind(id).run();
  transaction.commit();
}

// No night has used it, as record_likenesses() would say.
void LabelStore::record_recording(const Digest& sample, const Likeness& recording) {
  const std::lock_guard guard(mutex_);
  Transaction transaction(database_, Transaction::Kind::kWrite);
  const SampleLikeness piece{sample, recording};
  (void)join_scenes({&piece, 1});
  transaction.commit();
}

std::map<std::int64_t, std::optional<Likeness>> LabelStore::join_scenes(
    std::span<const SampleLikeness> samples) {
  SceneBook book(known_likenesses());
  const auto fresh = note_likenesses(samples);
  for (const auto& [id, likeness] : fresh)
    if (likeness) book.add(id, *likeness);
  std::set<std::int64_t> scenes;
  Statement update(database_, "UPDATE samples SET scene = ? WHERE id = ?");
  for (const auto& [id, scene] : book.changes()) {
    update.bind(scene).bind(id).run();
    scenes.insert(scene);
  }
  for (const std::int64_t scene : scenes) settle_side(scene);
  return fresh;
}

std::vector<SceneMember> LabelStore::known_likenesses() const {
  Statement select(database_,
                   "SELECT id, likeness, scene FROM samples WHERE length(likeness) > 0 "
                   "ORDER BY id");
  std::vector<SceneMember> members;
  while (select.step())
    members.push_back({select.integer(0), Likeness::from_bytes(select.blob(1)), select.integer(2)});
  return members;
}

// By the ids of the samples, in which order they look for their scenes.
std::map<std::int64_t, std::optional<Likeness>> LabelStore::note_likenesses(
    std::span<const SampleLikeness> samples) {
  std::map<std::int64_t, std::optional<Likeness>> fresh;
  Statement find(database_, "SELECT id FROM samples WHERE digest = ? AND likeness IS NULL");
  Statement note(database_, "UPDATE samples SET likeness = ? WHERE id = ?");
  for (const SampleLikeness& sample : samples) {
    const bool is_wanted = find.bind(sample.digest.bytes).step();
    const std::int64_t id = is_wanted ? find.integer(0) : 0;
    find.reset();
    if (!is_wanted) continue;
    fresh[id] = sample.likeness;
    const auto bytes = sample.likeness ? sample.likeness->bytes() : std::array<std::uint8_t, 16>{};
    note.bind(std::span(bytes).first(sample.likeness ? bytes.size() : 0)).bind(id).run();
  }
  return fresh;
}

// Who has been trained on is no evidence any more, whatever joins it: so where part of a scene was
// trained on, the scene is. Else it stays held out where part of it was, or else goes where its
// first sample lies. Labels keep samples to be learned from, and to be judged by where they can.
void LabelStore::settle_side(std::int64_t scene) {
  Split side = Split::kTrain;
  if (count(kBoundToTrain, scene) == 0) {
    const bool held_out = count(kBoundToValidation, scene) > 0;
    side = held_out ? Split::kValidation : static_cast<Split>(count(kFirstSplit, scene));
  }
  move_scene(scene, side);
  const auto labels = labels_of_scene(scene);
  if (side == Split::kValidation &&
      !std::ranges::all_of(labels, [&](std::int64_t label) { return is_trained(label); }))
    move_scene(scene, Split::kTrain);
  for (const std::int64_t label : labels) hold_one_out(label);
}

void LabelStore::move_scene(std::int64_t scene, Split side) {
  Statement(database_, "UPDATE samples SET split = ? WHERE scene = ? AND split_chosen = 0")
      .bind(static_cast<std::int64_t>(side))
      .bind(scene)
      .run();
}

std::vector<std::int64_t> LabelStore::labels_of_scene(std::int64_t scene) const {
  Statement select(database_,
                   "SELECT DISTINCT label_id FROM sample_labels JOIN samples ON "
                   "samples.id = sample_id WHERE scene = ? ORDER BY label_id");
  select.bind(scene);
  std::vector<std::int64_t> labels;
  while (select.step()) labels.push_back(select.integer(0));
  return labels;
}

}  // namespace moil::data
