// The store's scenes: what its samples look like, of which recordings they are pieces, and so which
// are of one scene.
#include <algorithm>
#include <set>

#include "datasets/identity/split.h"
#include "datasets/labels/label_store.h"
#include "datasets/labels/scene_book.h"

namespace moil::data {

void LabelStore::record_likenesses(std::span<const SampleLikeness> samples) {
  const std::lock_guard guard(mutex_);
  Change change(database_);
  join_scenes(change.sides, samples);
  change.sides.settle();  // a night uses them as they lie now
  Statement use(database_,
                "UPDATE samples SET used = 1 WHERE digest = ? AND used = 0 RETURNING id");
  std::vector<std::int64_t> fresh;
  for (const SampleLikeness& sample : samples) {
    if (use.bind(sample.digest.bytes).step()) fresh.push_back(use.integer(0));
    use.reset();
  }
  for (const std::int64_t id : fresh) rank_anew("id", id);
  change.commit();
}

void LabelStore::join_scenes(Sides& sides, std::span<const SampleLikeness> samples) {
  SceneBook book(known_likenesses());
  for (const auto& [digest, fresh] : note_likenesses(samples)) book.add(fresh);
  std::set<std::int64_t> scenes;
  for (const auto& [id, scene] : book.changes()) {
    set_scene(id, scene);
    scenes.insert(scene);
  }
  for (const std::int64_t scene : scenes) {
    draw_for_scene(scene);
    sides.scene_changed(scene);
  }
}

std::vector<SceneMember> LabelStore::known_likenesses() const {
  Statement select(database_,
                   "SELECT id, likeness, scene FROM samples WHERE length(likeness) > 0 "
                   "ORDER BY digest");
  std::vector<SceneMember> members;
  while (select.step())
    members.push_back({select.integer(0), Likeness::from_bytes(select.blob(1)), select.integer(2)});
  return members;
}

// The samples that look like something, by content: in this order they look for their scenes.
std::map<Digest, SceneMember> LabelStore::note_likenesses(std::span<const SampleLikeness> samples) {
  std::map<Digest, SceneMember> fresh;
  Statement find(database_, "SELECT id, scene FROM samples WHERE digest = ? AND likeness IS NULL");
  Statement note(database_, "UPDATE samples SET likeness = ? WHERE id = ?");
  for (const SampleLikeness& sample : samples) {
    const bool is_wanted = sample.is_looked_at && find.bind(sample.digest.bytes).step();
    const std::int64_t id = is_wanted ? find.integer(0) : 0;
    const std::int64_t scene = is_wanted ? find.integer(1) : 0;
    find.reset();
    if (!is_wanted) continue;
    if (sample.likeness) fresh[sample.digest] = {id, *sample.likeness, scene};
    const auto bytes = sample.likeness ? sample.likeness->bytes() : std::array<std::uint8_t, 16>{};
    note.bind(std::span(bytes).first(sample.likeness ? bytes.size() : 0)).bind(id).run();
  }
  return fresh;
}

bool LabelStore::has_pieces(const Digest& digest) const {
  Statement row(database_, "SELECT 1 FROM samples WHERE recording = ? LIMIT 1");
  return row.bind(digest.bytes).step();
}

// The sample is a piece of the recording, or the recording itself: all that is here of it becomes
// one scene.
void LabelStore::join_recording(Sides& sides, std::int64_t sample, const Digest& recording) {
  Statement(database_, "UPDATE samples SET recording = ?1 WHERE id = ?2 AND digest <> ?1")
      .bind(recording.bytes)
      .bind(sample)
      .run();
  std::set<std::int64_t> members, scenes;
  Statement rows(database_, "SELECT id, scene FROM samples WHERE recording = ?1 OR digest = ?1");
  rows.bind(recording.bytes);
  while (rows.step()) {
    members.insert(rows.integer(0));
    if (rows.integer(1) != 0) scenes.insert(rows.integer(1));
  }
  sides.sample_changed(sample);
  for (const std::int64_t label : label_ids_of(sample)) sides.label_changed(label);
  if (members.size() < 2) return set_draw("id", sample, draw_of(recording));
  const std::int64_t scene = scenes.empty() ? *members.begin() : *scenes.begin();
  for (const std::int64_t other : scenes) {
    sides.scene_changed(other);
    Statement(database_, "UPDATE samples SET scene = ? WHERE scene = ?")
        .bind(scene)
        .bind(other)
        .run();
  }
  for (const std::int64_t member : members) set_scene(member, scene);
  draw_for_scene(scene);
  sides.scene_changed(scene);
}

void LabelStore::set_scene(std::int64_t sample, std::int64_t scene) {
  Statement(database_, "UPDATE samples SET scene = ? WHERE id = ?").bind(scene).bind(sample).run();
}

// Of recordings the first by its digest draws for all, else the first sample.
void LabelStore::draw_for_scene(std::int64_t scene) {
  Statement first(database_,
                  "SELECT coalesce(min(recording), min(digest)) FROM samples WHERE scene = ?");
  if (!first.bind(scene).step() || first.is_null(0)) return;
  const std::int64_t draw = draw_of(Digest::from_bytes(first.blob(0)));
  first.reset();
  set_draw("scene", scene, draw);
}

void LabelStore::set_draw(const char* which, std::int64_t id, std::int64_t draw) {
  Statement(database_, std::string("UPDATE samples SET draw = ? WHERE ") + which + " = ?")
      .bind(draw)
      .bind(id)
      .run();
  rank_anew(which, id);
}

void LabelStore::rank_anew(const char* which, std::int64_t id) {
  Statement(database_, std::string("UPDATE sample_labels SET rank = (SELECT ") + Sides::kRank +
                           " FROM samples WHERE id = sample_id) WHERE sample_id IN "
                           "(SELECT id FROM samples WHERE " +
                           which + " = ?)")
      .bind(id)
      .run();
}

}  // namespace moil::data
