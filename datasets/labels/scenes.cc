#include "datasets/labels/scenes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "datasets/identity/split.h"

namespace moil::data {
namespace {

// Finds samples that hang together: by likeness, by recordings, or by the scenes that they have
// been of.
class Relatives {
 public:
  explicit Relatives(const Database& database)
      : database_(database),
        sample_(database,
                "SELECT digest, CASE used WHEN 1 THEN likeness END, recording, scene FROM samples "
                "WHERE id = ?"),
        of_scene_(database, "SELECT id FROM samples WHERE scene = ?"),
        of_recording_(database, "SELECT id FROM samples WHERE recording = ?1 OR digest = ?1") {}

  // The sample, and all that hangs together with it; none if that was found already.
  std::vector<SceneMember> of(std::int64_t sample) {
    found_.clear();
    find(sample);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const SceneMember member = found_[i];
      if (member.scene != 0 && scenes_.insert(member.scene).second)
        find_all(of_scene_.bind(member.scene));
      for (const auto& recording : {std::optional(member.digest), member.recording})
        if (recording && recordings_.insert(*recording).second)
          find_all(of_recording_.bind(recording->bytes));
      if (member.likeness) find_alike(*member.likeness);
    }
    return found_;
  }

 private:
  void find(std::int64_t id) {
    if (!ids_.insert(id).second) return;
    if (sample_.bind(id).step()) {
      SceneMember member{id, Digest::from_bytes(sample_.blob(0)), {}, {}, sample_.integer(3)};
      if (!sample_.blob(1).empty()) member.likeness = Likeness::from_bytes(sample_.blob(1));
      if (!sample_.is_null(2)) member.recording = Digest::from_bytes(sample_.blob(2));
      found_.push_back(member);
    }
    sample_.reset();
  }

  void find_all(Statement& rows) {
    while (rows.step()) find(rows.integer(0));
    rows.reset();
  }

  void find_alike(const Likeness& likeness) {
    if (!others_) read_others();
    const auto alike = std::ranges::partition(
        *others_, [&](const auto& other) { return !look_alike(other.second, likeness); });
    std::vector<std::int64_t> ids;
    for (const auto& [id, look] : alike) ids.push_back(id);
    others_->erase(alike.begin(), alike.end());
    for (const std::int64_t id : ids) find(id);
  }

  void read_others() {
    others_.emplace();
    Statement rows(database_,
                   "SELECT id, likeness FROM samples WHERE used = 1 AND length(likeness) > 0");
    while (rows.step()) others_->emplace_back(rows.integer(0), Likeness::from_bytes(rows.blob(1)));
  }

  const Database& database_;
  Statement sample_, of_scene_, of_recording_;
  std::vector<SceneMember> found_;
  std::set<std::int64_t> ids_, scenes_;
  std::set<Digest> recordings_;
  // That look like none that was asked about.
  std::optional<std::vector<std::pair<std::int64_t, Likeness>>> others_;
};

}  // namespace

void Scenes::record_likenesses(Sides& sides, std::span<const SampleLikeness> samples) {
  Statement note(database_,
                 "UPDATE samples SET likeness = ? WHERE digest = ? AND likeness IS NULL "
                 "RETURNING id, used");
  std::set<std::int64_t> in_use;
  for (const auto& [digest, likeness] : samples) {
    const auto bytes = likeness ? likeness->bytes() : std::array<std::uint8_t, 16>{};
    note.bind(std::span(bytes).first(likeness ? bytes.size() : 0)).bind(digest.bytes);
    if (note.step() && note.integer(1) == 1) in_use.insert(note.integer(0));
    note.reset();
  }
  divide_anew(sides, in_use);
}

void Scenes::record_uses(Sides& sides, std::span<const Digest> samples) {
  Statement use(database_, "UPDATE samples SET used = 1 WHERE digest = ? RETURNING id");
  std::set<std::int64_t> ids;
  for (const Digest& digest : samples) {
    if (use.bind(digest.bytes).step()) ids.insert(use.integer(0));
    use.reset();
  }
  divide_anew(sides, ids);
  sides.settle();  // a night uses them as they lie now
  Statement keep(database_,
                 "UPDATE samples SET used_split = split WHERE id = ? AND used_split IS NOT split "
                 "RETURNING id");
  for (const std::int64_t id : ids) {
    const bool is_fresh = keep.bind(id).step();
    keep.reset();
    if (!is_fresh) continue;
    rank_anew(id);
    for (const std::int64_t label : samples_.label_ids_of(id)) sides.label_changed(label);
  }
}

bool Scenes::has_pieces(const Digest& digest) const {
  Statement row(database_, "SELECT 1 FROM samples WHERE recording = ? LIMIT 1");
  return row.bind(digest.bytes).step();
}

// A piece that two recordings have in common is of the first of them by content.
void Scenes::note_recording(std::int64_t sample, const Digest& recording) {
  Statement(database_,
            "UPDATE samples SET recording = min(coalesce(recording, ?1), ?1) WHERE id = ?2 AND "
            "digest <> ?1")
      .bind(recording.bytes)
      .bind(sample)
      .run();
}

// The scenes of these samples, and of whatever hangs together with them, as their content says.
void Scenes::divide_anew(Sides& sides, const std::set<std::int64_t>& samples) {
  Relatives relatives(database_);
  for (const std::int64_t sample : samples) {
    const auto related = relatives.of(sample);
    bool has_changed = false;
    for (const auto& members : divided_into_scenes(related))
      has_changed = place_in_scene(members) || has_changed;
    if (!has_changed) continue;
    for (const SceneMember& member : related) {
      sides.sample_changed(member.id);
      for (const std::int64_t label : samples_.label_ids_of(member.id)) sides.label_changed(label);
    }
  }
}

void Scenes::divide_rest(Sides& sides, const std::set<std::int64_t>& scenes) {
  std::set<std::int64_t> rest;
  Statement rows(database_, "SELECT id FROM samples WHERE scene = ?");
  for (const std::int64_t scene : scenes) {
    rows.bind(scene);
    while (rows.step()) rest.insert(rows.integer(0));
    rows.reset();
  }
  divide_anew(sides, rest);
}

// True if something of it was otherwise. The recording with the first digest draws for all, else
// the first sample.
bool Scenes::place_in_scene(const std::vector<SceneMember>& members) {
  const std::int64_t scene =
      members.size() == 1 ? 0 : std::ranges::min(members, {}, &SceneMember::id).id;
  std::optional<Digest> first;
  for (const SceneMember& member : members)
    if (member.recording && (!first || *member.recording < *first)) first = member.recording;
  if (!first) first = std::ranges::min(members, {}, &SceneMember::digest).digest;
  Statement update(database_,
                   "UPDATE samples SET scene = ?1, draw = ?2 WHERE id = ?3 AND (scene <> ?1 OR "
                   "draw <> ?2) RETURNING id");
  bool has_changed = false;
  for (const SceneMember& member : members) {
    const bool is_other = update.bind(scene).bind(draw_of(*first)).bind(member.id).step();
    update.reset();
    if (!is_other) continue;
    rank_anew(member.id);
    has_changed = true;
  }
  return has_changed;
}

void Scenes::rank_anew(std::int64_t sample) {
  Statement(database_, std::string("UPDATE sample_labels SET rank = (SELECT ") + Sides::kRank +
                           " FROM samples WHERE id = sample_id) WHERE sample_id = ?")
      .bind(sample)
      .run();
}

}  // namespace moil::data
