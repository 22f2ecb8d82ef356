#include "daemon/upkeep/forgetting.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <unordered_set>

#include "daemon/log/log.h"
#include "daemon/state/flushed_later.h"
#include "daemon/state/forgotten_traces.h"
#include "daemon/state/job_samples.h"
#include "daemon/upkeep/cache_access.h"

namespace moil::daemon {
namespace {

std::vector<data::Digest> digests_of(const std::vector<data::ForgottenSample>& samples) {
  std::vector<data::Digest> digests;
  for (const auto& sample : samples) digests.push_back(sample.digest);
  return digests;
}

// A turn of the loop, before others have theirs.
constexpr std::chrono::milliseconds kForgettingTurn{20};
constexpr std::chrono::milliseconds kAnotherTry{50};

}  // namespace

struct Forgetting::Work {
  std::optional<Responder> responder;
  std::vector<data::ForgottenSample> samples;
  std::vector<data::Digest> digests;  // of these
  std::vector<std::int64_t> jobs;     // whose folders know them
  std::optional<ForgottenTraces> traces;
  std::vector<ForgottenTraces::Place> places;
  // How far it is.
  std::size_t digests_done = 0, places_done = 0;
  std::set<std::pair<std::string, std::int64_t>> versions;  // that learned from them
  Json reply;
};

Forgetting::Forgetting(EventLoop& loop, Background& background, data::LabelStore& labels,
                       const StateLayout& layout, const Config& config, Database& database,
                       Flusher& flusher, ModelStore& models, Scheduler& scheduler,
                       DiskReserve& reserve)
    : loop_(loop),
      background_(background),
      labels_(labels),
      layout_(layout),
      config_(config),
      database_(database),
      flusher_(flusher),
      models_(models),
      scheduler_(scheduler),
      reserve_(reserve) {}

void Forgetting::resume() {
  const auto told = [](const Json&, const RpcError* error) {
    if (error != nullptr) log_error("forgotten samples are still in places: {}", error->message);
  };
  start([] { return Json::object(); }, Responder(told));
}

void Forgetting::start(std::function<Json()> rows, const Responder& responder) {
  background_.submit([this, rows = std::move(rows), responder]() -> Background::Done {
    try {
      const auto work = std::make_shared<Work>();
      work->responder = responder;
      work->reply = reserve_.for_deletion(rows);
      work->samples = labels_.forgetting();
      work->digests = digests_of(work->samples);
      if (!work->samples.empty()) {
        remove_maps(*work);
        find_traces(*work);
      }
      return [this, work] { go_on(work); };
    } catch (...) {
      const RpcError error = rpc_error(std::current_exception());
      return [error, responder] { responder.error(error); };
    }
  });
}

void Forgetting::remove_maps(Work& work) const {
  if (!std::filesystem::exists(layout_.cache())) return;
  std::vector<cache::SampleDigest> keys;
  for (const data::Digest& digest : work.digests) keys.push_back({digest.bytes});
  const auto forget = [&](cache::FeatureCache& cache) { return cache.forget(keys); };
  reserve_.for_deletion([&] {
    return in_usable_cache(layout_, config_.cache.quota_bytes, forget, cache::Removed{});
  });
}

void Forgetting::find_traces(Work& work) const {
  work.jobs = jobs_that_know(layout_, {work.digests.begin(), work.digests.end()});
  work.traces.emplace(work.samples);
  work.places = work.traces->find(Database(layout_.database(), Database::Access::kReadOnly));
}

void Forgetting::go_on(const WorkPtr& work) {
  try {
    const bool is_done =
        work->digests_done == work->digests.size() && work->places_done == work->places.size();
    if (is_done && work->samples.empty()) return end(work);
    if (is_done) return erase(work);
    remove_some(*work);
    loop_.post([this, work] { go_on(work); });
  } catch (...) {
    work->responder->error(rpc_error(std::current_exception()));
  }
}

// As much as a turn of the loop takes.
void Forgetting::remove_some(Work& work) {
  constexpr std::size_t kDigests = 50;
  reserve_.for_deletion([&] {
    const FlushedLater later;
    Transaction transaction(database_, Transaction::Kind::kWrite);
    const auto until = std::chrono::steady_clock::now() + kForgettingTurn;
    const auto has_time = [&] { return std::chrono::steady_clock::now() < until; };
    std::size_t digests = work.digests_done, places = work.places_done;
    std::set<std::pair<std::string, std::int64_t>> versions;
    for (; digests < work.digests.size() && has_time();) {
      const std::size_t count = std::min(kDigests, work.digests.size() - digests);
      for (auto& version : models_.forget_samples(std::span(work.digests).subspan(digests, count)))
        versions.insert(std::move(version));
      digests += count;
    }
    for (; digests == work.digests.size() && places < work.places.size() && has_time(); ++places)
      work.traces->remove(database_, work.places[places]);
    transaction.commit();
    work.digests_done = digests;
    work.places_done = places;
    work.versions.merge(versions);
  });
}

// Copying the log lets the state grow, which a full disk has room for in the reserve alone.
void Forgetting::erase(const WorkPtr& work) {
  if (erasing_++ == 0) room_.emplace(reserve_);
  flusher_.erase([this, work](bool is_erased, const std::exception_ptr& error) {
    if (--erasing_ == 0) room_.reset();
    erased(work, is_erased, error);
  });
}

// It is not while another reads what was there before.
void Forgetting::erased(const WorkPtr& work, bool is_erased, const std::exception_ptr& error) {
  if (!is_erased && !error) {
    loop_.after(kAnotherTry, [this, work] { go_on(work); });
    return;
  }
  try {
    if (error) std::rethrow_exception(error);
    end(work);
  } catch (...) {
    work->responder->error(rpc_error(std::current_exception()));
  }
}

void Forgetting::end(const WorkPtr& work) {
  work->reply["versions"] = versions(*work);
  if (!work->samples.empty())
    scheduler_.begin_anew(work->jobs, [this, samples = work->samples] { forget_note(samples); });
  work->responder->result(std::move(work->reply));
}

Json Forgetting::versions(const Work& work) const {
  Json list = Json::array();
  for (const auto& [model, number] : work.versions) {
    try {
      const ModelVersion version = models_.get(model, number);
      list.push_back({{"model", model}, {"version", number}, {"active", version.active}});
    } catch (const Error&) {  // never recorded, or removed meanwhile
    }
  }
  return list;
}

void Forgetting::forget_note(const std::vector<data::ForgottenSample>& samples) {
  try {
    background_.submit([this, samples]() -> Background::Done {
      try {
        reserve_.for_deletion([&] { labels_.forgotten(samples); });
      } catch (const Error& error) {
        log_error("what was forgotten is still noted: {}", error.what());
      }
      return [] {};
    });
  } catch (const Error& error) {  // the next start goes on with it
    log_warn("what was forgotten is still noted: {}", error.what());
  }
}

}  // namespace moil::daemon
