#include "daemon/state/model_store.h"

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/folder_entries.h"
#include "base/files/unflushed.h"
#include "base/seconds.h"
#include "daemon/json/parse.h"
#include "daemon/log/log.h"
#include "daemon/state/job.h"
#include "daemon/state/trash.h"
#include "daemon/state/version_samples.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

void bind_optional(Statement& statement, const std::optional<std::int64_t>& value) {
  if (value) {
    statement.bind(*value);
  } else {
    statement.bind_null();
  }
}

// A list of more items is told by their number alone.
constexpr std::size_t kLongestList = 1000;

Json without_long_lists(Json metrics) {
  if (!metrics.is_object()) return metrics;
  for (Json& value : metrics)
    if (value.is_array() && value.size() > kLongestList) value = value.size();
  return metrics;
}

Json json_or_null(const Statement& row, int column) {
  return row.is_null(column) ? Json(nullptr) : parsed_json(row.text(column));
}

Error no_such_version(const std::string& model, std::int64_t version) {
  return Error(ErrorCode::kNotFound, "there is no version " + std::to_string(version) +
                                         " of model \"" + model + "\"; see model.list");
}

}  // namespace

Json to_json(const ModelVersion& v, const StateLayout& layout) {
  return {{"model", v.model},
          {"version", v.version},
          {"active", v.active},
          {"created_at", utc_text(v.created_at)},
          {"parent", or_null(v.parent)},
          {"job", or_null(v.job)},
          {"summary", v.summary},
          {"metrics", without_long_lists(v.metrics)},
          {"forgotten", v.forgotten},
          {"pinned", v.pinned},
          {"withdrawn", to_json(v.withdrawn)},
          {"folder", layout.version(v.model, v.version).string()}};
}

std::vector<ModelVersion> ModelStore::query(const std::string& where, const std::string& model,
                                            std::int64_t version) const {
  Statement rows(db_,
                 "SELECT model, version, active, created_at, parent, made_by, summary, metrics, "
                 "forgotten, pinned, at, cause, why FROM versions LEFT JOIN withdrawals USING "
                 "(model, version) WHERE state = 'ready' AND (?1 = '' OR model = ?1) "
                 "AND (?2 = 0 OR version = ?2) " +
                     where + " ORDER BY model, version");
  rows.bind(std::string_view(model)).bind(version);
  std::vector<ModelVersion> out;
  while (rows.step()) {
    out.push_back({.model = rows.text(0),
                   .version = rows.integer(1),
                   .active = rows.integer(2) != 0,
                   .created_at = rows.integer(3),
                   .parent = rows.optional_integer(4),
                   .job = rows.optional_integer(5),
                   .summary = rows.text(6),
                   .metrics = parsed_json(rows.text(7)),
                   .forgotten = rows.integer(8),
                   .pinned = rows.integer(9) != 0,
                   .withdrawn = {}});
    if (rows.is_null(10)) continue;
    out.back().withdrawn = Withdrawal{rows.integer(10), cause_named(rows.text(11)), rows.text(12)};
  }
  return out;
}

std::vector<ModelVersion> ModelStore::list() const { return query("", "", 0); }

std::vector<ModelVersion> ModelStore::versions(const std::string& model) const {
  auto out = query("", model, 0);
  if (!out.empty() && !model.empty()) return out;
  throw Error(ErrorCode::kNotFound,
              "there is no model \"" + model + "\"; import one with model.import");
}

ModelVersion ModelStore::get(const std::string& model, std::int64_t version) const {
  const auto out = query("", model, version);
  if (model.empty() || version == 0 || out.empty()) throw no_such_version(model, version);
  return out.front();
}

std::optional<ModelVersion> ModelStore::active(const std::string& model) const {
  const auto out = query("AND active = 1", model, 0);
  if (model.empty() || out.empty()) return std::nullopt;
  return out.front();
}

std::int64_t ModelStore::reserve(const std::string& model, std::optional<std::int64_t> parent,
                                 std::optional<std::int64_t> job) {
  make_private_folder_unflushed(layout_.model(model));  // its first worker flushes it
  Statement last(db_,
                 "SELECT max(coalesce((SELECT max(version) FROM versions WHERE model = ?1), 0), "
                 "coalesce((SELECT max(version) FROM jobs WHERE model = ?1), 0), "
                 "coalesce((SELECT version FROM removed_versions WHERE model = ?1), 0))");
  last.bind(std::string_view(model));
  const std::int64_t version = (last.step() ? last.integer(0) : 0) + 1;
  Statement insert(db_,
                   "INSERT INTO versions (model, version, state, created_at, parent, job, made_by) "
                   "VALUES (?, ?, 'incoming', ?, ?, ?, ?)");
  insert.bind(std::string_view(model)).bind(version).bind(now_milliseconds());
  bind_optional(insert, parent);
  bind_optional(insert, job);
  bind_optional(insert, job);
  insert.run();
  return version;
}

void ModelStore::record(const std::string& model, std::int64_t version, const std::string& summary,
                        const Json& metrics, bool activate) {
  if (!fs::is_directory(layout_.version(model, version))) {
    throw Error(ErrorCode::kInternal, "the worker reported version " + std::to_string(version) +
                                          " of model \"" + model + "\" but did not write it");
  }
  Statement update(db_,
                   "UPDATE versions SET state = 'ready', summary = ?, metrics = ? "
                   "WHERE model = ? AND version = ?");
  update.bind(std::string_view(summary)).bind(std::string_view(metrics.dump()));
  update.bind(std::string_view(model)).bind(version).run();
  if (!activate) return;
  // A person who imports a model chooses it.
  Statement imported(db_, "SELECT made_by IS NULL FROM versions WHERE model = ? AND version = ?");
  imported.bind(std::string_view(model)).bind(version);
  if (imported.step() && imported.integer(0) != 0) return choose(model, version);
  set_active(model, version);
}

void ModelStore::set_active(const std::string& model, std::int64_t version) {
  Statement off(db_, "UPDATE versions SET active = 0 WHERE model = ? AND active = 1");
  off.bind(std::string_view(model)).run();
  Statement on(db_, "UPDATE versions SET active = 1 WHERE model = ? AND version = ?");
  on.bind(std::string_view(model)).bind(version).run();
  Statement canary(db_, "DELETE FROM canaries WHERE model = ? AND version != ?");
  canary.bind(std::string_view(model)).bind(version).run();
}

void ModelStore::record_provenance(const std::string& model, std::int64_t version,
                                   const Provenance& provenance) {
  Statement update(db_,
                   "UPDATE versions SET provenance = ?, label_scores = ? WHERE model = ? AND "
                   "version = ?");
  for (const Json& part : {provenance.record, provenance.label_scores}) {
    if (part.is_null()) {
      update.bind_null();
    } else {
      update.bind(std::string_view(to_line(part)));
    }
  }
  update.bind(std::string_view(model)).bind(version).run();
}

Provenance ModelStore::provenance(const std::string& model, std::int64_t version) const {
  Statement row(db_,
                "SELECT provenance, label_scores FROM versions WHERE state = 'ready' AND model = ? "
                "AND version = ?");
  row.bind(std::string_view(model)).bind(version);
  if (!row.step()) throw no_such_version(model, version);
  return {json_or_null(row, 0), json_or_null(row, 1)};
}

void ModelStore::record_samples(const std::string& model, std::int64_t version,
                                std::span<const data::Digest> samples) {
  VersionSamples(db_).record({model, version}, samples);
}

std::vector<std::pair<std::string, std::int64_t>> ModelStore::forget_samples(
    std::span<const data::Digest> samples) {
  // By model, for the index of the canaries' samples begins with it.
  Statement drop(db_,
                 "DELETE FROM canary_samples WHERE model IN (SELECT model FROM canaries) AND "
                 "digest = ?");
  for (const data::Digest& sample : samples) drop.bind(sample.bytes).run();
  return VersionSamples(db_).forget(samples);
}

void ModelStore::require_unused(const ModelVersion& version) const {
  const std::string what =
      "version " + std::to_string(version.version) + " of model \"" + version.model + "\" ";
  if (version.active) {
    throw Error(ErrorCode::kFailedPrecondition,
                what + "is in service; put another one in service first (model.activate)");
  }
  if (version.pinned) {
    throw Error(ErrorCode::kFailedPrecondition, what + "is pinned; unpin it first (model.pin)");
  }
  Statement named(db_, "SELECT 1 FROM anchors WHERE model = ? AND version = ?");
  if (named.bind(std::string_view(version.model)).bind(version.version).step()) {
    throw Error(ErrorCode::kFailedPrecondition,
                what + "is the model's anchor; name another one first (model.anchor)");
  }
  Statement job(db_,
                "SELECT id FROM jobs WHERE model = ? AND base_version = ? AND state IN "
                "('queued', 'running')");
  if (!job.bind(std::string_view(version.model)).bind(version.version).step()) return;
  throw Error(ErrorCode::kFailedPrecondition, what + "is what job " +
                                                  std::to_string(job.integer(0)) +
                                                  " began with; wait for its end or cancel it");
}

void ModelStore::remove(const std::string& model, std::int64_t version) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  require_unused(get(model, version));
  VersionSamples(db_).hand_down({model, version});
  for (const char* sql : {"DELETE FROM versions WHERE model = ?1 AND version = ?2",
                          "INSERT INTO removed_versions VALUES (?1, ?2) ON CONFLICT (model) DO "
                          "UPDATE SET version = max(version, excluded.version)"}) {
    Statement(db_, sql).bind(std::string_view(model)).bind(version).run();
  }
  transaction.commit();
}

std::vector<std::int64_t> ModelStore::remove_whole(const std::string& model) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  std::vector<std::int64_t> numbers;
  for (const ModelVersion& version : versions(model)) numbers.push_back(version.version);
  Statement job(db_, "SELECT id FROM jobs WHERE model = ? AND state IN ('queued', 'running')");
  if (job.bind(std::string_view(model)).step())
    throw Error(ErrorCode::kFailedPrecondition,
                "job " + std::to_string(job.integer(0)) + " of model \"" + model +
                    "\" has not ended; wait for its end or cancel it (job.cancel)");
  for (const char* sql :
       {"INSERT INTO removed_versions SELECT ?1, max(version) FROM versions WHERE model = ?1 "
        "ON CONFLICT (model) DO UPDATE SET version = max(version, excluded.version)",
        "DELETE FROM anchors WHERE model = ?1", "DELETE FROM withdrawals WHERE model = ?1",
        "DELETE FROM versions WHERE model = ?1 AND state = 'ready'"}) {
    Statement(db_, sql).bind(std::string_view(model)).run();
  }
  transaction.commit();
  return numbers;
}

void ModelStore::discard(const std::string& model, std::int64_t version) {
  Statement drop(db_,
                 "DELETE FROM versions WHERE model = ? AND version = ? AND state = 'incoming'");
  drop.bind(std::string_view(model)).bind(version).run();
  remove_unknown_folders(model);
}

// By a person or by a canary, not by a night that promotes.
void ModelStore::choose(const std::string& model, std::int64_t version) {
  set_active(model, version);
  Withdrawals(db_).lift(model, version);
  Statement begun(db_,
                  "UPDATE jobs SET base_version = NULL WHERE model = ? AND version IS NOT NULL AND "
                  "base_version != ? AND state IN ('queued', 'running')");
  begun.bind(std::string_view(model)).bind(version).run();
}

void ModelStore::activate(const std::string& model, std::int64_t version) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  (void)get(model, version);
  choose(model, version);
  transaction.commit();
}

ModelVersion ModelStore::rollback(const std::string& model, const Withdrawal& withdrawal) {
  (void)versions(model);
  const auto current = active(model);
  if (!current || !current->parent) {
    throw Error(ErrorCode::kFailedPrecondition,
                current ? "version " + std::to_string(current->version) + " of model \"" + model +
                              "\" has no earlier version to go back to"
                        : "no version of model \"" + model + "\" is active");
  }
  Transaction transaction(db_, Transaction::Kind::kWrite);
  choose(model, *current->parent);
  const Json record = provenance(model, current->version).record;
  Withdrawals(db_).record(model, current->version, withdrawal,
                          record.is_object() ? record.value("weights", "") : "");
  Statement anchor(db_, "DELETE FROM anchors WHERE model = ? AND version = ?");
  anchor.bind(std::string_view(model)).bind(current->version).run();
  transaction.commit();
  return get(model, *current->parent);
}

std::vector<WithdrawnWeights> ModelStore::withdrawn_weights(const std::string& model) const {
  return Withdrawals(db_).weights(model);
}

void ModelStore::pin(const std::string& model, std::int64_t version, bool pinned) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  (void)get(model, version);
  Statement update(db_, "UPDATE versions SET pinned = ? WHERE model = ? AND version = ?");
  update.bind(std::int64_t{pinned}).bind(std::string_view(model)).bind(version).run();
  transaction.commit();
}

ModelStore::Anchor ModelStore::anchor(const std::string& model, std::int64_t base) const {
  Statement row(db_, "SELECT version FROM anchors WHERE model = ?");
  row.bind(std::string_view(model));
  if (row.step()) return {row.integer(0), true};
  ModelVersion version = get(model, base);
  while (version.job && version.parent) version = get(model, *version.parent);
  return {version.version, false};
}

void ModelStore::name_anchor(const std::string& model, std::int64_t version) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  (void)get(model, version);
  Statement name(db_, "INSERT OR REPLACE INTO anchors (model, version) VALUES (?, ?)");
  name.bind(std::string_view(model)).bind(version).run();
  transaction.commit();
}

void ModelStore::forget_anchor(const std::string& model) {
  Statement forget(db_, "DELETE FROM anchors WHERE model = ?");
  forget.bind(std::string_view(model)).run();
}

void ModelStore::recover() {
  drop_abandoned_rows();
  if (!fs::is_directory(layout_.models())) return;
  for (const auto& entry : fs::directory_iterator(layout_.models())) {
    if (entry.is_directory()) remove_unknown_folders(entry.path().filename());
  }
  for (const auto& v : list()) {
    if (fs::is_directory(layout_.version(v.model, v.version))) continue;
    log_error("version {} of model {} is recorded but its folder is gone", v.version, v.model);
  }
}

void ModelStore::drop_abandoned_rows() {
  db_.run(
      "DELETE FROM versions WHERE state = 'incoming' AND (job IS NULL OR job NOT IN "
      "(SELECT id FROM jobs WHERE state IN ('queued', 'running')))");
}

void ModelStore::remove_unknown_folders(const std::string& model) {
  std::set<std::string> known;
  Statement rows(db_, "SELECT version FROM versions WHERE model = ?");
  rows.bind(std::string_view(model));
  while (rows.step()) {
    known.insert(layout_.version(model, rows.integer(0)).filename());
    known.insert(layout_.incoming(model, rows.integer(0)).filename());
  }
  for (const fs::path& entry : entries_of(layout_.model(model))) {
    if (known.contains(entry.filename())) continue;
    log_info("removing {}, which is no version of the store", entry.string());
    throw_away(layout_, entry);
  }
}

}  // namespace moil::daemon
