#include "daemon/upkeep/housekeeping.h"

#include <algorithm>
#include <limits>

#include "base/durations.h"
#include "daemon/log/log.h"
#include "daemon/rpc/dispatcher.h"
#include "daemon/rpc/page.h"
#include "daemon/state/disk_usage.h"
#include "daemon/state/superfluous.h"
#include "daemon/state/trash.h"
#include "daemon/upkeep/cache_upkeep.h"

namespace moil::daemon {
namespace {

constexpr std::chrono::hours kHour{1};
// In a turn of the loop; each version is a transaction, which waits for the disk.
constexpr std::size_t kVersionsATurn = 2;
constexpr int kJobsATurn = 10;

struct Count {
  std::uint64_t count = 0, bytes = 0;
  void add(std::uint64_t more) {
    ++count;
    bytes += more;
  }
};

Json to_json(const Count& count) { return {{"count", count.count}, {"bytes", count.bytes}}; }

}  // namespace

// One time of looking through everything, and what came of it.
struct Housekeeping::Round {
  bool dry_run = false;
  std::optional<Responder> responder;  // empty: by itself
  std::vector<ModelVersion> versions;
  std::vector<JobStore::Ended> jobs;
  std::vector<ModelVersion> gone;                        // rows that were removed, or would be
  std::vector<Leftover> left;                            // what is of nothing, as it seemed
  std::vector<Leftover> found;                           // what is to be removed
  std::optional<std::vector<cache::ModelId>> backbones;  // in use; empty: the cache is left alone
  std::optional<std::int64_t> cache_user;                // a job

  Count of_versions, of_jobs, of_leftovers, of_cache;
  Page items{std::numeric_limits<std::size_t>::max()};
  std::uint64_t more = 0;

  bool is_gone(const std::filesystem::path& folder) const {
    return std::ranges::find(found, folder, &Leftover::path) != found.end();
  }
  void tell(const char* what, const std::string& name, std::uint64_t bytes,
            const std::string& why) {
    const bool fits =
        more == 0 &&
        items.add({{"what", what}, {"name", name}, {"bytes", bytes}, {"why", why}}, nullptr);
    if (!fits) ++more;
  }
  Json reply() {
    Json cache = to_json(of_cache);
    cache["in_use_by"] = or_null(cache_user);
    Json items_told = std::move(items).finish("items")["items"];
    return {{"dry_run", dry_run},
            {"bytes", of_versions.bytes + of_jobs.bytes + of_leftovers.bytes + of_cache.bytes},
            {"versions", to_json(of_versions)},
            {"jobs", to_json(of_jobs)},
            {"leftovers", to_json(of_leftovers)},
            {"cache", std::move(cache)},
            {"items", std::move(items_told)},
            {"more", more}};
  }
};

Housekeeping::Housekeeping(const Surroundings& around) : s_(around) {
  soon();
  trash_timer_ = s_.loop.after({}, [this] { look_for_trash(); });
}

Housekeeping::~Housekeeping() {
  s_.loop.cancel(timer_);
  s_.loop.cancel(trash_timer_);
}

// Also what an earlier run of the daemon left there.
void Housekeeping::look_for_trash() {
  trash_timer_ = s_.loop.after(s_.config.poll(), [this] { look_for_trash(); });
  if (emptying_ || !has_trash(s_.layout)) return;
  emptying_ = true;
  s_.background.submit([this]() -> Background::Done {
    empty_trash(s_.layout);
    return [this] { emptying_ = false; };
  });
}

void Housekeeping::soon() {
  s_.loop.cancel(timer_);
  timer_ = s_.loop.after(std::chrono::milliseconds(0), [this] { look(true); });
}

void Housekeeping::look(bool is_due) {
  timer_ = s_.loop.after(kHour, [this] { look(false); });
  if (!is_due && s_.world.steady_milliseconds() - last_ < kDay) return;
  if (current_) {
    again_ = true;
    return;
  }
  begin(std::make_shared<Round>());
}

void Housekeeping::clean(bool dry_run, const Responder& responder) {
  auto round = std::make_shared<Round>();
  round->dry_run = dry_run;
  round->responder = responder;
  if (current_) return waiting_.push_back(std::move(round));
  begin(round);
}

void Housekeeping::remove_maps(bool all, const Responder& responder) {
  if (const auto running = s_.scheduler.running()) {
    throw Error(
        ErrorCode::kFailedPrecondition,
        "job " + std::to_string(*running) + " is using the cache; try again when it is done");
  }
  const auto in_use = all ? std::vector<cache::ModelId>() : backbones_in_use(s_.jobs, s_.layout);
  answer_in_background(s_.background, responder, [this, in_use]() -> Json {
    const auto removed = s_.reserve.for_deletion(
        [&] { return remove_unused_maps(s_.layout, s_.config.cache.quota_bytes, in_use); });
    return {{"removed_entries", removed.entries}, {"removed_bytes", removed.bytes}};
  });
}

void Housekeeping::remove_files(std::function<void()> throw_away, const Responder& responder,
                                Json reply) {
  s_.flusher.then([this, throw_away = std::move(throw_away), responder,
                   reply = std::move(reply)](const std::exception_ptr& lost) {
    if (lost) return responder.error(rpc_error(lost));
    throw_away();
    answer_in_background(s_.background, responder, [this, reply] {
      empty_trash(s_.layout);
      return reply;
    });
  });
}

void Housekeeping::begin(const RoundPtr& round) {
  current_ = round;
  last_ = s_.world.steady_milliseconds();
  next_step(round, [this, &round] {
    plan(*round);
    remove_rows(round);
  });
}

std::int64_t Housekeeping::today() const {
  const std::int64_t now = s_.world.now_milliseconds();
  return std::min(now, s_.jobs.latest_end().value_or(now));
}

void Housekeeping::plan(Round& round) const {
  const RetentionConfig& rules = s_.config.retention;
  if (rules.versions)
    round.versions = superfluous_versions(s_.models, s_.database, s_.layout, *rules.versions);
  if (rules.days) round.jobs = s_.jobs.ended_before(today() - *rules.days * kDay);
  if (!round.responder) return;
  round.cache_user = s_.scheduler.running();
  if (!round.cache_user) round.backbones = backbones_in_use(s_.jobs, s_.layout);
}

void Housekeeping::remove_rows(const RoundPtr& round) {
  if (!remove_some_rows(*round)) {
    return s_.flusher.then([this, round](const std::exception_ptr& lost) {
      next_step(round, [this, round, lost] {
        if (lost) std::rethrow_exception(lost);
        find_files(round);
      });
    });
  }
  s_.loop.post([this, round] { next_step(round, [this, round] { remove_rows(round); }); });
}

// False if nothing is left to remove.
bool Housekeeping::remove_some_rows(Round& round) {
  if (!round.versions.empty()) {
    const std::size_t some =
        round.dry_run ? round.versions.size() : std::min(kVersionsATurn, round.versions.size());
    for (std::size_t i = 0; i < some; ++i) {
      const ModelVersion v = std::move(round.versions.front());
      round.versions.erase(round.versions.begin());
      try {
        if (!round.dry_run) s_.reserve.for_deletion([&] { s_.models.remove(v.model, v.version); });
        round.gone.push_back(v);
      } catch (const Error& error) {  // it was put in service meanwhile, say
        log_info("{} stays: {}", place_of(v), error.what());
      }
    }
    return true;
  }
  if (round.jobs.empty()) return false;
  const auto some = std::min<std::size_t>(kJobsATurn, round.jobs.size());
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < some; ++i) {
    const auto [id, bytes] = round.jobs[i];
    ids.push_back(id);
    round.of_jobs.add(static_cast<std::uint64_t>(bytes));
    round.tell(
        "job", std::to_string(id), static_cast<std::uint64_t>(bytes),
        "it ended more than " + std::to_string(s_.config.retention.days.value_or(0)) + " days ago");
  }
  if (!round.dry_run) s_.reserve.for_deletion([&] { s_.jobs.remove(ids); });
  round.jobs.erase(round.jobs.begin(), round.jobs.begin() + static_cast<std::ptrdiff_t>(some));
  return true;
}

Kept Housekeeping::kept() const {
  Kept kept;
  Statement versions(s_.database,
                     "SELECT model, version, state FROM versions UNION ALL "
                     "SELECT model, version, 'removed' FROM removed_versions");
  while (versions.step()) {
    const std::string model = versions.text(0), state = versions.text(2);
    const std::int64_t version = versions.integer(1);
    auto& folders = kept.versions[model];
    folders.highest = std::max(folders.highest, version);
    if (state == "removed") continue;
    folders.names.insert(s_.layout.version(model, version).filename());
    // A worker renames it when it likes.
    if (state == "incoming") folders.names.insert(s_.layout.incoming(model, version).filename());
  }
  const auto days = s_.config.retention.failed_days;
  for (const std::int64_t job : s_.jobs.resumable(days ? today() - *days * kDay : 0))
    kept.jobs.names.insert(s_.layout.job(job).filename());
  kept.jobs.highest = s_.jobs.newest_id();
  return kept;
}

// What is there that is not kept, and how much room it takes.
void Housekeeping::find_files(const RoundPtr& round) {
  s_.background.submit([this, round, kept = kept()]() -> Background::Done {
    try {
      for (const ModelVersion& v : round->gone) {
        const auto folder = s_.layout.version(v.model, v.version);
        const std::uint64_t bytes = disk_usage(folder);
        round->found.push_back({folder, bytes, Leftover::Of::kVersion, v.model});
        round->of_versions.add(bytes);
        round->tell("version", place_of(v), bytes, "newer ones are kept, and nothing needs it");
      }
      for (Leftover& left : find_leftovers(s_.layout, kept)) {
        if (left.of != Leftover::Of::kVersion || !round->is_gone(left.path))
          round->left.push_back(std::move(left));
      }
      return [this, round] { next_step(round, [this, round] { throw_files_away(round); }); };
    } catch (...) {
      const RpcError error = rpc_error(std::current_exception());
      return [this, round, error] { end(round, &error); };
    }
  });
}

// On the loop, which begins jobs and versions: what was found may be of use again by now.
void Housekeeping::throw_files_away(const RoundPtr& round) {
  const Kept now = kept();
  for (const Leftover& left : round->left) {
    if (is_needed(left, now)) continue;
    round->of_leftovers.add(left.bytes);
    round->tell("leftover", left.path.lexically_relative(s_.layout.root()).string(), left.bytes,
                "it is of nothing that is still there");
    round->found.push_back(left);
  }
  if (!round->dry_run) {
    for (const Leftover& gone : round->found) {
      if (is_needed(gone, now)) continue;
      throw_away(s_.layout, gone.path);
      log_info("removed {}, which nothing needs", gone.path.string());
    }
  }
  remove_unused(round);
}

void Housekeeping::remove_unused(const RoundPtr& round) {
  s_.background.submit([this, round]() -> Background::Done {
    try {
      if (!round->dry_run) empty_trash(s_.layout);
      if (round->backbones) {
        const std::int64_t quota = s_.config.cache.quota_bytes;
        const auto maps = round->dry_run
                              ? unused_maps(s_.layout, quota, *round->backbones)
                              : s_.reserve.for_deletion([&] {
                                  return remove_unused_maps(s_.layout, quota, *round->backbones);
                                });
        round->of_cache = {maps.entries, maps.bytes};
      }
      return [this, round] { end(round, nullptr); };
    } catch (...) {
      const RpcError error = rpc_error(std::current_exception());
      return [this, round, error] { end(round, &error); };
    }
  });
}

// A step of a round: what it throws ends the round.
void Housekeeping::next_step(const RoundPtr& round, const std::function<void()>& step) {
  try {
    step();
  } catch (...) {
    const RpcError error = rpc_error(std::current_exception());
    end(round, &error);
  }
}

void Housekeeping::end(const RoundPtr& round, const RpcError* error) {
  current_.reset();
  if (round->responder) {
    if (error != nullptr) {
      round->responder->error(*error);
    } else {
      round->responder->result(round->reply());
    }
  } else if (error != nullptr) {
    log_warn("what is not kept could not be removed: {}", error->message);
  }
  if (!waiting_.empty()) {
    const RoundPtr next = std::move(waiting_.front());
    waiting_.pop_front();
    s_.loop.post([this, next] { begin(next); });
    current_ = next;
  } else if (std::exchange(again_, false)) {
    soon();
  }
}

}  // namespace moil::daemon
