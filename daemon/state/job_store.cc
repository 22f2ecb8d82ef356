#include "daemon/state/job_store.h"

#include "base/error.h"
#include "base/seconds.h"
#include "daemon/json/parse.h"
#include "daemon/spec/job_result.h"
#include "daemon/state/canary_store.h"
#include "daemon/state/flushed_later.h"
#include "daemon/state/provenance.h"

namespace moil::daemon {
namespace {

constexpr const char* kAll =
    "SELECT id, name, model, spec, state, ignore_window, cancelling, submitted_at, started_at, "
    "finished_at, "
    "not_before, attempts, failures, base_version, version, message, result, schedule FROM jobs ";
constexpr const char* kWithoutDetails =
    "SELECT id, name, model, NULL, state, ignore_window, cancelling, submitted_at, started_at, "
    "finished_at, not_before, attempts, failures, base_version, version, message, summary, "
    "schedule "
    "FROM jobs ";

Job job_of(const Statement& row) {
  Job job;
  job.id = row.integer(0);
  job.spec.name = row.text(1);
  job.spec.model = row.text(2);
  if (!row.is_null(3)) job.spec = stored_job_spec(parsed_json(row.text(3)));
  job.state = state_named(row.text(4));
  job.ignore_window = row.integer(5) != 0;
  job.cancelling = row.integer(6) != 0;
  job.submitted_at = row.integer(7);
  job.started_at = row.optional_integer(8);
  job.finished_at = row.optional_integer(9);
  job.not_before = row.integer(10);
  job.attempts = static_cast<int>(row.integer(11));
  job.failures = static_cast<int>(row.integer(12));
  job.base_version = row.optional_integer(13);
  job.version = row.optional_integer(14);
  job.message = row.text(15);
  if (!row.is_null(16)) job.result = parsed_json(row.text(16));
  if (!row.is_null(17)) job.schedule = row.text(17);
  return job;
}

Error no_such_job(std::int64_t id) {
  return Error(ErrorCode::kNotFound, "there is no job " + std::to_string(id) + "; see job.list");
}

// Accuracies and the like of a result, kept with the version it made.
Json metrics_of(const Json& result) {
  Json metrics = Json::object();
  for (const char* name : {"global_before", "global_after", "local_before", "local_after"}) {
    if (result.contains(name) && !result[name].is_null()) metrics[name] = result[name];
  }
  for (const char* name : {"metric", "global_metric", "is_fraction"}) {
    if (result.contains(name)) metrics[name] = result[name];
  }
  return metrics;
}

std::string reason_of(const Json& result) {
  const auto it = result.find("reason");
  return it != result.end() && it->is_string() ? it->get<std::string>() : "";
}

}  // namespace

std::vector<Job> JobStore::query(const std::string& rest,
                                 const std::vector<std::int64_t>& values) const {
  Statement rows(db_, kAll + rest);
  for (const std::int64_t value : values) rows.bind(value);
  std::vector<Job> out;
  while (rows.step()) out.push_back(job_of(rows));
  return out;
}

std::int64_t JobStore::submit(const JobSpec& spec, bool ignore_window,
                              const std::optional<Origin>& origin,
                              const std::function<void(std::int64_t id)>& also) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  Statement insert(db_,
                   "INSERT INTO jobs (name, model, spec, state, ignore_window, submitted_at, "
                   "priority, schedule) VALUES (?, ?, ?, 'queued', ?, ?, ?, nullif(?, ''))");
  insert.bind(std::string_view(spec.name)).bind(std::string_view(spec.model));
  insert.bind(std::string_view(to_json(spec).dump()));
  insert.bind(std::int64_t{ignore_window}).bind(now_milliseconds());
  const Origin from = origin.value_or(Origin{});
  insert.bind(std::int64_t{from.priority}).bind(std::string_view(from.schedule)).run();
  const std::int64_t id = db_.last_id();
  if (also) also(id);
  insert_event(id, {{"event", "state"}, {"state", "queued"}, {"attempt", 0}, {"message", ""}});
  transaction.commit();
  return id;
}

Job JobStore::get(std::int64_t id) const {
  const auto found = query("WHERE id = ?", {id});
  if (found.empty()) throw no_such_job(id);
  return found.front();
}

JobStore::Standing JobStore::standing(std::int64_t id) const {
  Statement row(db_, "SELECT state, message FROM jobs WHERE id = ?");
  if (!row.bind(id).step()) throw no_such_job(id);
  return {state_named(row.text(0)), row.text(1)};
}

void JobStore::list(std::optional<JobState> state, std::int64_t before, Details details,
                    const std::function<bool(const Job&)>& take) const {
  // The name comes from our own table of states, never from the request.
  const std::string filter = state ? "AND state = '" + to_string(*state) + "' " : "";
  const std::string columns = details == Details::kWith ? kAll : kWithoutDetails;
  Statement rows(db_, columns + "WHERE (?1 = 0 OR id < ?1) " + filter + "ORDER BY id DESC");
  rows.bind(before);
  while (rows.step()) {
    if (!take(job_of(rows))) return;
  }
}

std::int64_t JobStore::count(JobState state) const {
  Statement row(db_, "SELECT count(*) FROM jobs WHERE state = ?");
  row.bind(std::string_view(to_string(state)));
  return row.step() ? row.integer(0) : 0;
}

std::vector<std::string> JobStore::backbones(int limit) const {
  // Its texts may be megabytes, of which a line is asked for.
  Statement rows(db_,
                 "SELECT json_extract(result, '$.details.cache.model_id') FROM jobs WHERE "
                 "json_valid(result) ORDER BY id DESC LIMIT ?");
  rows.bind(std::int64_t{limit});
  std::vector<std::string> out;
  while (rows.step())
    if (!rows.is_null(0)) out.push_back(rows.text(0));
  return out;
}

std::optional<Job> JobStore::next(bool window_open, std::span<const std::int64_t> waiting) const {
  std::string others = "0";  // no job's number
  for (const std::int64_t id : waiting) others += "," + std::to_string(id);
  const auto found =
      query("WHERE state = 'queued' AND (ignore_window = 1 OR ? = 1) AND id NOT IN (" + others +
                ") ORDER BY ignore_window DESC, priority DESC, id LIMIT 1",
            {window_open ? 1 : 0});
  if (found.empty()) return std::nullopt;
  return found.front();
}

std::vector<Job> JobStore::delayed(std::int64_t now) const {
  return query("WHERE state IN ('queued', 'running') AND not_before > ?", {now});
}

void JobStore::events(std::int64_t id, std::int64_t after_seq,
                      const std::function<bool(const JobEvent&)>& take) const {
  Statement rows(db_, "SELECT seq, at, body FROM events WHERE job = ? AND seq > ? ORDER BY seq");
  rows.bind(id).bind(after_seq);
  while (rows.step()) {
    if (!take({rows.integer(0), rows.integer(1), parsed_json(rows.text(2))})) return;
  }
}

std::int64_t JobStore::newest_event(std::int64_t id) const {
  Statement row(db_, "SELECT max(seq) FROM events WHERE job = ?");
  return row.bind(id).step() ? row.integer(0) : 0;
}

std::optional<std::string> JobStore::cannot_start(const Job& job) const {
  if ((job.version && job.base_version) || models_.active(job.spec.model)) return std::nullopt;
  return "model \"" + job.spec.model + "\" has no active version; import it first";
}

JobFile JobStore::prepare(std::int64_t id) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  Job job = get(id);
  const auto base = models_.active(job.spec.model);
  // A job that has not begun starts from what is active when it does.
  const bool is_late = job.attempts == 0 && base && base->version != job.base_version;
  if (job.version && (is_late || !job.base_version)) {
    models_.discard(job.spec.model, *job.version);
    job.version.reset();
  }
  if (!job.version) {
    if (!base) throw Error(ErrorCode::kFailedPrecondition, cannot_start(job).value());
    job.base_version = base->version;
    job.version = models_.reserve(job.spec.model, base->version, id);
    Statement update(db_, "UPDATE jobs SET base_version = ?, version = ? WHERE id = ?");
    update.bind(*job.base_version).bind(*job.version).bind(id).run();
  }
  transaction.commit();
  return {.id = id,
          .base_version = *job.base_version,
          .version = *job.version,
          .anchor_version = models_.anchor(job.spec.model, *job.base_version).version,
          .withdrawn = models_.withdrawn_weights(job.spec.model),
          .spec = job.spec};
}

void JobStore::begin(std::int64_t id) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  Statement update(db_,
                   "UPDATE jobs SET attempts = attempts + 1, not_before = 0, "
                   "started_at = coalesce(started_at, ?) WHERE id = ?");
  update.bind(now_milliseconds()).bind(id).run();
  set_state(get(id), JobState::kRunning, "");
  transaction.commit();
}

void JobStore::take_back(std::int64_t id, const std::string& why) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  Statement update(db_, "UPDATE jobs SET attempts = attempts - 1 WHERE id = ?");
  update.bind(id).run();
  set_state(get(id), JobState::kQueued, why);
  transaction.commit();
}

void JobStore::pause(std::int64_t id, const std::string& why) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  set_state(get(id), JobState::kQueued, why);
  transaction.commit();
}

void JobStore::retry(std::int64_t id, const std::string& why, std::int64_t not_before) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  Statement update(db_, "UPDATE jobs SET failures = failures + 1, not_before = ? WHERE id = ?");
  update.bind(not_before).bind(id).run();
  set_state(get(id), JobState::kQueued, why);
  transaction.commit();
}

void JobStore::end(std::int64_t id, JobState state, const std::string& why) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  const Job job = get(id);
  set_state(job, state, why);
  transaction.commit();
  if (job.version) models_.discard(job.spec.model, *job.version);
}

JobStore::ListPart JobStore::result_list(const Job& job, const std::string& list, std::int64_t from,
                                         std::size_t most_bytes) const {
  const Json lists = job.result.is_object() ? job.result.value("lists", Json()) : Json();
  const bool is_there = lists.is_object() && lists.contains(list);
  if (!is_there) {
    throw Error(ErrorCode::kNotFound, "the result of job " + std::to_string(job.id) +
                                          " has no list \"" + list +
                                          "\" beside it; its \"lists\" names those that it has");
  }
  ListPart part{lists[list].get<std::int64_t>(), {}};
  Statement rows(db_,
                 "SELECT body FROM result_lists WHERE job = ? AND list = ? AND seq >= ? "
                 "ORDER BY seq");
  rows.bind(job.id).bind(std::string_view(list)).bind(from);
  std::size_t bytes = 0;
  while (rows.step()) {
    const std::string body = rows.text(0);
    bytes += body.size();
    if (bytes > most_bytes && !part.items.empty()) break;
    part.items.push_back(parsed_json(body));
  }
  return part;
}

void JobStore::insert_lists(std::int64_t id, const std::map<std::string, Json>& lists) {
  Statement insert(db_, "INSERT INTO result_lists (job, list, seq, body) VALUES (?, ?, ?, ?)");
  for (const auto& [list, items] : lists) {
    for (std::size_t seq = 0; seq < items.size(); ++seq) {
      insert.bind(id).bind(std::string_view(list)).bind(static_cast<std::int64_t>(seq));
      insert.bind(std::string_view(items[seq].dump())).run();
      insert.reset();
    }
  }
}

void JobStore::promote(const Job& job, const Json& result, std::int64_t newest_sample) {
  const std::int64_t version = job.version.value();
  models_.record(job.spec.model, version, "personalized by job " + std::to_string(job.id),
                 metrics_of(result), job.spec.activate);
  models_.record_provenance(job.spec.model, version, provenance_of(job, result));
  if (!job.spec.canary || !job.spec.activate) return;
  Canary canary;
  canary.model = job.spec.model;
  canary.version = version;
  canary.parent = job.base_version.value();
  canary.rule = *job.spec.canary;
  CanaryStore(db_).begin(canary, newest_sample);
}

void JobStore::finish(std::int64_t id, const Json& whole, std::span<const data::Digest> learned,
                      std::int64_t newest_sample) {
  const Job job = get(id);
  const auto [result, lists] = split_result(whole);
  const bool promoted = result.value("promoted", false);
  Transaction transaction(db_, Transaction::Kind::kWrite);
  Statement update(db_,
                   "UPDATE jobs SET result = ?1, summary = json_remove(?1, '$.details') "
                   "WHERE id = ?2");
  update.bind(std::string_view(result.dump())).bind(id).run();
  insert_lists(id, lists);
  if (promoted) {
    promote(job, whole, newest_sample);
    models_.record_samples(job.spec.model, job.version.value(), learned);
  }
  set_state(job, promoted ? JobState::kSucceeded : JobState::kRejectedByGuard, reason_of(result));
  transaction.commit();
  if (!promoted && job.version) models_.discard(job.spec.model, *job.version);
}

// A number that a job had reserved is not given to another version, though none came of it.
void JobStore::remove(std::span<const std::int64_t> jobs) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  for (const std::int64_t id : jobs) {
    const Job job = get(id);
    if (!is_finished(job.state)) {
      throw Error(ErrorCode::kFailedPrecondition, "job " + std::to_string(id) +
                                                      " has not ended; cancel it first "
                                                      "(job.cancel)");
    }
    if (job.version) {
      Statement used(db_,
                     "INSERT INTO removed_versions VALUES (?, ?) ON CONFLICT (model) DO UPDATE "
                     "SET version = max(version, excluded.version)");
      used.bind(std::string_view(job.spec.model)).bind(*job.version).run();
    }
    for (const char* sql :
         {"UPDATE versions SET job = NULL WHERE job = ?", "DELETE FROM jobs WHERE id = ?"}) {
      Statement(db_, sql).bind(id).run();
    }
  }
  transaction.commit();
}

std::vector<JobStore::Ended> JobStore::ended_before(std::int64_t moment) const {
  Statement rows(db_,
                 "SELECT id, length(spec) + coalesce(length(result), 0) + (SELECT "
                 "coalesce(sum(length(body)), 0) FROM events WHERE job = id) + (SELECT "
                 "coalesce(sum(length(body)), 0) FROM result_lists WHERE job = id) FROM jobs "
                 "WHERE state NOT IN ('queued', 'running') AND finished_at < ? ORDER BY id");
  rows.bind(moment);
  std::vector<Ended> found;
  while (rows.step()) found.push_back({rows.integer(0), rows.integer(1)});
  return found;
}

std::set<std::int64_t> JobStore::resumable(std::int64_t failed_since) const {
  Statement rows(db_,
                 "SELECT id FROM jobs j WHERE state IN ('queued', 'running') OR (state = 'failed' "
                 "AND finished_at >= ? AND NOT EXISTS (SELECT 1 FROM jobs s WHERE s.model = "
                 "j.model AND s.state = 'succeeded' AND s.id > j.id))");
  rows.bind(failed_since);
  std::set<std::int64_t> found;
  while (rows.step()) found.insert(rows.integer(0));
  return found;
}

std::int64_t JobStore::newest_id() const {
  Statement row(db_, "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'");
  return row.step() ? row.integer(0) : 0;
}

std::optional<std::int64_t> JobStore::latest_end() const {
  Statement row(db_, "SELECT max(finished_at) FROM jobs");
  if (!row.step()) return std::nullopt;
  return row.optional_integer(0);
}

void JobStore::set_cancelling(std::int64_t id) {
  Statement update(db_, "UPDATE jobs SET cancelling = 1 WHERE id = ?");
  update.bind(id).run();
}

void JobStore::queue_again(std::int64_t id) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  Statement update(db_,
                   "UPDATE jobs SET failures = 0, not_before = 0, version = NULL WHERE id = ?");
  update.bind(id).run();
  set_state(get(id), JobState::kQueued, "tried again");
  transaction.commit();
}

void JobStore::add_event(std::int64_t id, const Json& body) {
  const FlushedLater later;
  Transaction transaction(db_, Transaction::Kind::kWrite);
  insert_event(id, body);
  transaction.commit();
}

void JobStore::recover() {
  for (const Job& job : query("WHERE state = 'running'", {})) {
    if (job.cancelling) {
      end(job.id, JobState::kCancelled, "cancelled");
    } else {
      pause(job.id, "the daemon was restarted");
    }
  }
}

void JobStore::set_state(const Job& job, JobState state, const std::string& why) {
  Statement update(db_,
                   "UPDATE jobs SET state = ?, message = ?, cancelling = 0, finished_at = "
                   "CASE WHEN ? THEN ? END WHERE id = ?");
  update.bind(std::string_view(to_string(state))).bind(std::string_view(why));
  update.bind(std::int64_t{is_finished(state)}).bind(now_milliseconds()).bind(job.id).run();
  insert_event(job.id, {{"event", "state"},
                        {"state", to_string(state)},
                        {"attempt", job.attempts},
                        {"message", why}});
}

void JobStore::insert_event(std::int64_t id, const Json& body) {
  Statement insert(db_,
                   "INSERT INTO events (job, seq, at, body) VALUES (?1, 1 + coalesce("
                   "(SELECT max(seq) FROM events WHERE job = ?1), 0), ?2, ?3)");
  insert.bind(id).bind(now_milliseconds());
  insert.bind(std::string_view(to_line(body))).run();
}

}  // namespace moil::daemon
