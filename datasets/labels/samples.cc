#include "datasets/labels/samples.h"

#include <algorithm>

#include "base/error.h"
#include "base/seconds.h"
#include "datasets/labels/denial.h"
#include "datasets/labels/media_type.h"
#include "datasets/labels/text.h"

namespace moil::data {
namespace {

// The end of a path tells more than its beginning.
std::string kept_name(std::string_view given) {
  std::string name = shown(given);
  if (name.size() <= kMaxSampleName) return name;
  constexpr std::string_view kCut = "...";
  std::size_t at = name.size() - kMaxSampleName + kCut.size();
  while ((static_cast<unsigned char>(name[at]) & 0xc0U) == 0x80U) ++at;  // not inside a character
  return std::string(kCut) + name.substr(at);
}

}  // namespace

SampleRecord Samples::record(const Statement& row) const {
  SampleRecord sample;
  sample.id = row.integer(0);
  sample.digest = Digest::from_bytes(row.blob(1));
  sample.media_type = row.text(2);
  sample.size = static_cast<std::uint64_t>(row.integer(3));
  sample.added_at = row.integer(4);
  sample.split = static_cast<Split>(row.integer(5));
  sample.name = row.text(6);
  sample.scene = row.integer(7);
  sample.is_looked_at = row.integer(8) != 0;
  sample.is_used = row.integer(9) != 0;
  sample.labels = labels_of(sample.id);
  return sample;
}

std::optional<SampleRecord> Samples::find(const Digest& digest) const {
  Statement select(database_, "SELECT " + std::string(kColumns) + " FROM samples WHERE digest = ?");
  if (!select.bind(digest.bytes).step()) return {};
  return record(select);
}

bool Samples::is_here(const Digest& digest) const {
  Statement select(database_, "SELECT 1 FROM samples WHERE digest = ?");
  return select.bind(digest.bytes).step();
}

std::int64_t Samples::id_of(const Digest& digest) const {
  Statement select(database_, "SELECT id FROM samples WHERE digest = ?");
  if (select.bind(digest.bytes).step()) return select.integer(0);
  throw Error(ErrorCode::kNotFound, "there is no sample " + digest.hex());
}

std::int64_t Samples::insert(const Digest& digest, std::span<const std::uint8_t> content,
                             std::optional<Split> split, std::string_view name) {
  Statement insert(database_,
                   "INSERT INTO samples (digest, media_type, size, content, added_at, split, "
                   "split_chosen, name, draw) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(digest.bytes).bind(media_type_of(content));
  insert.bind(static_cast<std::int64_t>(content.size()));
  content.size() > kInlineBytes ? insert.bind_null() : insert.bind(content);
  insert.bind(now_milliseconds() / 1000);
  insert.bind(static_cast<std::int64_t>(split.value_or(Split::kTrain)));
  insert.bind(static_cast<std::int64_t>(split.has_value()));
  insert.bind(std::string_view(kept_name(name))).bind(draw_of(digest)).run();
  return database_.last_id();
}

void Samples::name(std::int64_t sample, std::string_view name) {
  Statement update(database_, "UPDATE samples SET name = ? WHERE id = ?");
  update.bind(std::string_view(kept_name(name))).bind(sample).run();
}

void Samples::forget(LabelChange& change, const Digest& digest) {
  (void)id_of(digest);  // kNotFound
  const SampleRecord gone = find(digest).value();
  for (const std::int64_t label : label_ids_of(gone.id)) change.sides.label_changed(label);
  for (const char* what :
       {"INSERT OR REPLACE INTO forgetting SELECT digest, name FROM samples WHERE digest = ?",
        "DELETE FROM step_samples WHERE digest = ?", "DELETE FROM samples WHERE digest = ?"}) {
    Statement(database_, what).bind(digest.bytes).run();
  }
  if (gone.scene == 0) return;
  change.sides.scene_changed(gone.scene);
  change.bereft.insert(gone.scene);
}

std::vector<std::string> Samples::labels_of(std::int64_t sample) const {
  Statement select(database_,
                   "SELECT name FROM sample_labels JOIN labels ON labels.id = label_id "
                   "WHERE sample_id = ? ORDER BY name");
  select.bind(sample);
  std::vector<std::string> names;
  while (select.step()) names.push_back(select.text(0));
  return names;
}

std::vector<std::int64_t> Samples::label_ids_of(std::int64_t sample) const {
  Statement select(database_, "SELECT label_id FROM sample_labels WHERE sample_id = ?");
  select.bind(sample);
  std::vector<std::int64_t> ids;
  while (select.step()) ids.push_back(select.integer(0));
  return ids;
}

std::vector<Digest> Samples::carriers_of(const std::array<std::string, 2>& labels) const {
  Statement select(database_,
                   "SELECT digest FROM samples WHERE id IN (SELECT sample_id FROM sample_labels "
                   "JOIN labels ON labels.id = label_id WHERE name IN (?, ?)) ORDER BY id");
  select.bind(labels[0]).bind(labels[1]);
  std::vector<Digest> carriers;
  while (select.step()) carriers.push_back(Digest::from_bytes(select.blob(0)));
  return carriers;
}

// False if it has these already. A sample that gets its first label is as new as one that is
// added: whoever looks for new labels by the id finds it.
bool Samples::put_labels(Sides& sides, const Digest& digest, std::span<const std::string> names) {
  std::int64_t sample = id_of(digest);
  const auto before = labels_of(sample);
  if (std::ranges::is_permutation(before, names)) return false;
  for (const std::int64_t label : label_ids_of(sample)) sides.label_changed(label);
  Statement(database_, "DELETE FROM sample_labels WHERE sample_id = ?").bind(sample).run();
  if (before.empty())
    sample = make_newest(sample);
  else
    note_correction(sample);
  attach(sides, sample, label_ids(names));
  return true;
}

void Samples::attach(Sides& sides, std::int64_t sample, std::span<const std::int64_t> labels) {
  Statement insert(database_, std::string("INSERT INTO sample_labels (sample_id, label_id, rank) "
                                          "SELECT id, ?2, ") +
                                  Sides::kRank + " FROM samples WHERE id = ?1");
  for (const std::int64_t label : labels) {
    insert.bind(sample).bind(label).run();
    sides.label_changed(label);
  }
  sides.sample_changed(sample);
}

std::int64_t Samples::existing_label_id(const std::string& name) const {
  Statement select(database_, "SELECT id FROM labels WHERE name = ?");
  if (select.bind(name).step()) return select.integer(0);
  throw Error(ErrorCode::kNotFound, "there is no label '" + name + "'");
}

std::vector<std::int64_t> Samples::label_ids(std::span<const std::string> names) {
  std::vector<std::int64_t> ids;
  Statement insert(database_, "INSERT OR IGNORE INTO labels (name) VALUES (?)");
  for (const auto& name : names) {
    insert.bind(name).run();
    ids.push_back(existing_label_id(name));
  }
  return ids;
}

std::optional<std::vector<std::string>> Samples::globals_of(const std::string& label) const {
  Statement known(database_, "SELECT id FROM labels WHERE name = ?");
  if (!known.bind(std::string_view(label)).step()) return std::nullopt;
  Statement select(database_,
                   "SELECT global_label FROM reconciliation WHERE label_id = ? "
                   "ORDER BY global_label");
  select.bind(known.integer(0));
  std::vector<std::string> globals;
  while (select.step()) globals.push_back(select.text(0));
  return globals;
}

void Samples::set_globals(std::int64_t label, std::span<const std::string> globals) {
  Statement(database_, "DELETE FROM reconciliation WHERE label_id = ?").bind(label).run();
  Statement insert(database_, "INSERT INTO reconciliation VALUES (?, ?)");
  for (const auto& global : globals) insert.bind(label).bind(std::string_view(global)).run();
  note_other_meaning(label);
}

std::int64_t Samples::make_newest(std::int64_t sample) {
  const std::int64_t newest = next_number();
  Statement(database_, "UPDATE samples SET id = ? WHERE id = ?").bind(newest).bind(sample).run();
  return newest;
}

// Ids are of these numbers, too, so that one can be told from which on samples are new or changed.
std::int64_t Samples::next_number() {
  const std::int64_t next =
      database_.number("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'samples'") +
      1;
  Statement(database_, "UPDATE sqlite_sequence SET seq = ? WHERE name = 'samples'")
      .bind(next)
      .run();
  return next;
}

void Samples::note_correction(std::int64_t sample) {
  Statement(database_, "UPDATE samples SET changed = ?1, corrected = ?1 WHERE id = ?2")
      .bind(next_number())
      .bind(sample)
      .run();
}

// What is right of its samples may be another name.
void Samples::note_other_meaning(std::int64_t label) {
  Statement select(database_, "SELECT sample_id FROM sample_labels WHERE label_id = ?");
  select.bind(label);
  std::vector<std::int64_t> samples;
  while (select.step()) samples.push_back(select.integer(0));
  for (const std::int64_t sample : samples)
    Statement(database_, "UPDATE samples SET changed = ? WHERE id = ?")
        .bind(next_number())
        .bind(sample)
        .run();
}

void Samples::rename(const std::string& from, const std::string& to) {
  Statement update(database_, "UPDATE labels SET name = ? WHERE name = ?");
  for (const auto& [old_name, name] :
       {std::pair(from, to), std::pair(denial_of(from), denial_of(to))}) {
    update.bind(name).bind(old_name).run();
    update.reset();
  }
}

void Samples::remove_bare_denials() {
  static_assert(kDenialMark + 1 == '"');
  const std::string sql = "DELETE FROM labels WHERE " + std::string(kIsDenial) +
                          " AND id NOT IN (SELECT label_id FROM sample_labels)";
  database_.run(sql.c_str());
}

void Samples::remove_if_bare(const std::string& label) {
  Statement(database_,
            "DELETE FROM labels WHERE name = ? AND id NOT IN (SELECT label_id FROM sample_labels)")
      .bind(std::string_view(label))
      .run();
}

}  // namespace moil::data
