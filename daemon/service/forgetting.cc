#include "daemon/service/forgetting.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <unordered_set>

#include "daemon/methods/cache_access.h"
#include "daemon/state/forgotten_traces.h"
#include "daemon/state/job_samples.h"

namespace moil::daemon {
namespace {

std::vector<data::Digest> digests_of(const std::vector<data::ForgottenSample>& samples) {
  std::vector<data::Digest> digests;
  for (const auto& sample : samples) digests.push_back(sample.digest);
  return digests;
}

Json short_json(const std::vector<ModelVersion>& versions) {
  Json list = Json::array();
  for (const ModelVersion& v : versions)
    list.push_back({{"model", v.model}, {"version", v.version}, {"active", v.active}});
  return list;
}

}  // namespace

Forgetting::Forgetting(Background& background, data::LabelStore& labels, const StateLayout& layout,
                       const Config& config, Database& database, ModelStore& models,
                       Scheduler& scheduler, DiskReserve& reserve)
    : background_(background),
      labels_(labels),
      layout_(layout),
      config_(config),
      database_(database),
      models_(models),
      scheduler_(scheduler),
      reserve_(reserve) {}

void Forgetting::start(std::function<Json()> rows, const Responder& responder) {
  responder.in_turn([this, rows = std::move(rows), responder](const Lane::Turn& turn) {
    submit(rows, responder, turn);
  });
}

void Forgetting::resume() {
  const auto told = [](const Json&, const RpcError* error) {
    if (error != nullptr)
      spdlog::error("forgotten samples are still in places: {}", error->message);
  };
  submit([] { return Json::object(); }, Responder(told, {}), {});
}

void Forgetting::submit(const std::function<Json()>& rows, const Responder& responder,
                        Lane::Turn turn) {
  background_.submit([this, rows, responder, turn = std::move(turn)]() -> Background::Done {
    try {
      const auto work = std::make_shared<Work>(remove_maps(rows));
      return [this, work, responder] {
        try {
          Json reply = work->reply;
          remove_traces(*work, reply);
          responder.result(std::move(reply));
        } catch (...) {
          responder.error(rpc_error(std::current_exception()));
        }
      };
    } catch (...) {
      const RpcError error = rpc_error(std::current_exception());
      return [error, responder] { responder.error(error); };
    }
  });
}

Forgetting::Work Forgetting::remove_maps(const std::function<Json()>& rows) const {
  Json reply = reserve_.for_deletion(rows);
  Work work{labels_.forgetting(), {}, std::move(reply)};
  if (work.samples.empty()) return work;
  const auto digests = digests_of(work.samples);
  if (std::filesystem::exists(layout_.cache())) {
    std::vector<cache::SampleDigest> keys;
    for (const data::Digest& digest : digests) keys.push_back({digest.bytes});
    const auto forget = [&](cache::FeatureCache& cache) { return cache.forget(keys); };
    reserve_.for_deletion([&] {
      return in_usable_cache(layout_, config_.cache.quota_bytes, forget, cache::Removed{});
    });
  }
  work.jobs = jobs_that_know(layout_, {digests.begin(), digests.end()});
  return work;
}

void Forgetting::remove_traces(const Work& work, Json& reply) {
  reply["versions"] = short_json(
      reserve_.for_deletion([&] { return models_.forget_samples(digests_of(work.samples)); }));
  if (work.samples.empty()) return;
  reserve_.for_deletion([&] { daemon::remove_traces(database_, work.samples); });
  scheduler_.begin_anew(work.jobs, [this, samples = work.samples] { forget_note(samples); });
}

void Forgetting::forget_note(const std::vector<data::ForgottenSample>& samples) {
  try {
    background_.submit([this, samples]() -> Background::Done {
      try {
        reserve_.for_deletion([&] { labels_.forgotten(samples); });
      } catch (const Error& error) {
        spdlog::error("what was forgotten is still noted: {}", error.what());
      }
      return [] {};
    });
  } catch (const Error& error) {  // the next start goes on with it
    spdlog::warn("what was forgotten is still noted: {}", error.what());
  }
}

}  // namespace moil::daemon
