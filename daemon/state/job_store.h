// The queue: every job ever submitted, its state and its events.
//
// Each method that changes something is one transaction, durable when it returns. Every change of
// state is an event too, so that watchers need only look at the events. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "daemon/spec/worker_protocol.h"
#include "daemon/state/job.h"
#include "daemon/state/model_store.h"
#include "daemon/state/schema.h"

namespace moil::daemon {

enum class Details { kWithout, kWith };

class JobStore {
 public:
  JobStore(Database& database, ModelStore& models) : db_(database), models_(models) {}

  // A recurring night's.
  struct Origin {
    std::string schedule;
    int priority = 0;  // higher ones go first
  };
  // also: more that belongs into the same transaction, if given.
  std::int64_t submit(const JobSpec& spec, bool ignore_window,
                      const std::optional<Origin>& origin = {},
                      const std::function<void(std::int64_t id)>& also = {});
  Job get(std::int64_t id) const;  // kNotFound
  struct Standing {
    JobState state{};
    std::string message;
  };
  // The job's, without reading its result, which may be megabytes; kNotFound.
  Standing standing(std::int64_t id) const;
  // Newest first, until `take` returns false; `state` empty: all; `before` 0: from the newest.
  // Without details a job has of its description only name and model, and no result.details.
  void list(std::optional<JobState> state, std::int64_t before, Details details,
            const std::function<bool(const Job&)>& take) const;
  std::int64_t count(JobState state) const;
  // The backbones (details.cache.model_id) of the last jobs that promoted or were held back, newest
  // first.
  std::vector<std::string> backbones(int limit) const;
  // What may start: jobs that ignore the window first, then by priority and in the order they came;
  // none of those that wait for something else.
  std::optional<Job> next(bool window_open, std::span<const std::int64_t> waiting) const;
  // Unfinished jobs whose not_before lies ahead of `now`.
  std::vector<Job> delayed(std::int64_t now) const;
  // In order, until `take` returns false.
  void events(std::int64_t id, std::int64_t after_seq,
              const std::function<bool(const JobEvent&)>& take) const;
  std::int64_t newest_event(std::int64_t id) const;  // its number; 0: none
  // Items of a list of the job's result, by its JSON pointer, from number `from` (0) on: as many as
  // have at most so many bytes, or one. kNotFound if the result has no such list.
  struct ListPart {
    std::int64_t count = 0;  // of the whole list
    std::vector<Json> items;
  };
  ListPart result_list(const Job& job, const std::string& list, std::int64_t from,
                       std::size_t most_bytes) const;

  // Why the job itself can never start: its model has no active version.
  std::optional<std::string> cannot_start(const Job& job) const;
  // What its worker is to be given; the job stays queued. Before its first attempt, and if it
  // lost its base (ModelStore::activate), the model's active version becomes the base and a version
  // is reserved.
  JobFile prepare(std::int64_t id);  // threads and the cache's limits are the caller's to fill in
  // Queued -> running: a worker has been started.
  void begin(std::int64_t id);
  // Running -> queued, as if that worker had never been started.
  void take_back(std::int64_t id, const std::string& why);
  // Running -> queued: the worker stopped as asked.
  void pause(std::int64_t id, const std::string& why);
  // Running -> queued with one failure more; the next attempt waits until not_before.
  void retry(std::int64_t id, const std::string& why, std::int64_t not_before);
  // -> failed or cancelled; the version it reserved is discarded.
  void end(std::int64_t id, JobState state, const std::string& why);
  // -> succeeded (the version is recorded, with the samples it learned from and where it comes
  // from, and activated in the same transaction, which begins its canary) or rejected-by-guard.
  // newest_sample: the largest id of the label store now.
  void finish(std::int64_t id, const Json& result, std::span<const data::Digest> learned = {},
              std::int64_t newest_sample = 0);
  // Removes finished jobs with their events and results, but not their folders. The versions that
  // they made stay. kNotFound; kFailedPrecondition if one has not ended.
  void remove(std::span<const std::int64_t> jobs);
  struct Ended {
    std::int64_t id = 0;
    std::int64_t bytes = 0;  // of what is kept of it here
  };
  // Finished ones that ended before the moment, oldest first.
  std::vector<Ended> ended_before(std::int64_t moment) const;
  // Those that may go on: unfinished ones, and ones that failed since the moment, after which no
  // job of their model succeeded.
  std::set<std::int64_t> resumable(std::int64_t failed_since) const;
  std::int64_t newest_id() const;  // that was ever given; 0: none
  // When the latest job ended; empty if none has ended.
  std::optional<std::int64_t> latest_end() const;
  void set_cancelling(std::int64_t id);
  // Failed or cancelled -> queued, with no failures counted; it writes a version of its own again.
  void queue_again(std::int64_t id);

  void add_event(std::int64_t id, const Json& body);
  // After a restart: running jobs wait again.
  void recover();

 private:
  void promote(const Job& job, const Json& result, std::int64_t newest_sample);
  void set_state(const Job& job, JobState state, const std::string& why);
  void insert_event(std::int64_t id, const Json& body);
  void insert_lists(std::int64_t id, const std::map<std::string, Json>& lists);
  std::vector<Job> query(const std::string& rest, const std::vector<std::int64_t>& values) const;

  Database& db_;
  ModelStore& models_;
};

}  // namespace moil::daemon
