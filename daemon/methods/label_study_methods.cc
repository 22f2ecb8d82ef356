// label.audit, label.suggest, label.meanings: what the model tells of the labels
// (study/label_study.h)
#include "daemon/methods/learn_pattern.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/reply.h"
#include "daemon/state/schedule_store.h"
#include "daemon/workers/studies.h"

namespace moil::daemon {
namespace {

constexpr int kMostDoubts = 10000;
// A study reads no pack; a description has to name one.
constexpr const char* kNoPack = "/nowhere";

struct StudyParams {
  std::string model;
  int limit = 100;
  bool progress = false;
};

const Fields<StudyParams>& fields_of(const StudyParams*) {
  static const Fields<StudyParams> table = {
      field("model", &StudyParams::model, Need::kRequired, check_name),
      field("limit", &StudyParams::limit, Need::kOptional, between(1, kMostDoubts)),
      field("progress", &StudyParams::progress),
  };
  return table;
}

struct MeaningsParams {
  std::string model;
  bool progress = false;
};

const Fields<MeaningsParams>& fields_of(const MeaningsParams*) {
  static const Fields<MeaningsParams> table = {
      field("model", &MeaningsParams::model, Need::kRequired, check_name),
      field("progress", &MeaningsParams::progress),
  };
  return table;
}

std::string notification_of(const Json& event) {
  if (event["event"] == "suggestions")
    return notification("label.suggested", {{"suggestions", event["suggestions"]}});
  return notification(
      "label.progress",
      {{"stage", event["stage"]}, {"done", event["done"]}, {"total", event["total"]}});
}

// To the client who asked, unless it has not read what was sent before.
JobPlanner::Progress progress_for(const Call& call) {
  return [client = call.client](const Json& event) {
    const auto asker = client.lock();
    if (!asker || !asker->is_open() || asker->waiting() > 0) return;
    asker->send(notification_of(event));
  };
}

// With the frozen layers and the cache of the model's last job, whose feature maps are there.
template <typename Params>
void study(const Params& params, const std::vector<std::string>& options, const Call& call,
           const Responder& responder, Studies& studies,
           const std::optional<LearnPattern>& pattern) {
  studies.start(*learn_spec({params.model, std::nullopt, kNoPack}, pattern), options, responder,
                params.progress ? progress_for(call) : nullptr);
}

void audit(const StudyParams& params, const Call& call, const Responder& responder,
           Studies& studies, const JobStore& jobs, const ScheduleStore& schedules) {
  study(params, {"--audit", std::to_string(params.limit)}, call, responder, studies,
        learn_pattern(jobs, schedules, params.model));
}

void suggest(const StudyParams& params, const Call& call, const Responder& responder,
             Studies& studies, const JobStore& jobs, const ScheduleStore& schedules) {
  study(params, {"--suggest", std::to_string(params.limit)}, call, responder, studies,
        learn_pattern(jobs, schedules, params.model));
}

void meanings(const MeaningsParams& params, const Call& call, const Responder& responder,
              Studies& studies, const JobStore& jobs, const ScheduleStore& schedules) {
  study(params, {"--meanings"}, call, responder, studies,
        learn_pattern(jobs, schedules, params.model));
}

}  // namespace

MethodTable label_study_methods(const Parts& by) {
  using Lane = Method::Lane;
  const auto deadline = std::chrono::hours(1);  // all samples are run through the model
  return {
      {"label.audit", "0.2", Role::kLabel, "labels that are likely wrong", Lane::kWorker, by(audit),
       deadline},
      {"label.suggest", "0.2", Role::kLabel, "what a model proposes for unlabelled samples",
       Lane::kWorker, by(suggest), deadline},
      {"label.meanings", "0.2", Role::kLabel, "global labels that local ones may mean",
       Lane::kWorker, by(meanings), deadline},
  };
}

}  // namespace moil::daemon
