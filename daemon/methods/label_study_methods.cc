// label.audit, label.suggest, label.meanings: what the model tells of the labels
// (night/label_study.h)
#include "daemon/methods/learn_pattern.h"
#include "daemon/methods/methods.h"
#include "daemon/service/service.h"

namespace moil::daemon {
namespace {

constexpr int kMostDoubts = 10000;
// A study reads no pack; a description has to name one.
constexpr const char* kNoPack = "/nowhere";

struct StudyParams {
  std::string model;
  int limit = 100;
};

const Fields<StudyParams>& fields_of(const StudyParams*) {
  static const Fields<StudyParams> table = {
      field("model", &StudyParams::model, Need::kRequired, check_name),
      field("limit", &StudyParams::limit, Need::kOptional, between(1, kMostDoubts)),
  };
  return table;
}

struct MeaningsParams {
  std::string model;
};

const Fields<MeaningsParams>& fields_of(const MeaningsParams*) {
  static const Fields<MeaningsParams> table = {
      field("model", &MeaningsParams::model, Need::kRequired, check_name),
  };
  return table;
}

// With the frozen layers and the cache of the model's last job, whose feature maps are there.
void study(Service& service, const std::string& model, const std::vector<std::string>& options,
           const Responder& responder) {
  const auto pattern = learn_pattern(service, model);
  service.planner.start(*learn_spec({model, std::nullopt, kNoPack}, pattern), options, responder);
}

void audit(Service& service, const Call& call, const Responder& responder) {
  const auto params = read_fields<StudyParams>(call.params, "the parameters of label.audit");
  study(service, params.model, {"--audit", std::to_string(params.limit)}, responder);
}

void suggest(Service& service, const Call& call, const Responder& responder) {
  const auto params = read_fields<StudyParams>(call.params, "the parameters of label.suggest");
  study(service, params.model, {"--suggest", std::to_string(params.limit)}, responder);
}

void meanings(Service& service, const Call& call, const Responder& responder) {
  const auto params = read_fields<MeaningsParams>(call.params, "the parameters of label.meanings");
  study(service, params.model, {"--meanings"}, responder);
}

}  // namespace

MethodTable label_study_methods(Service& s) {
  using Lane = Method::Lane;
  const auto deadline = std::chrono::hours(1);  // all samples are run through the model
  return {
      {"label.audit", "0.2", Role::kLabel, "labels that are likely wrong", Lane::kWorker, nullptr,
       [&s](Call& call, const Responder& responder) { audit(s, call, responder); }, deadline},
      {"label.suggest", "0.2", Role::kLabel, "what a model proposes for unlabelled samples",
       Lane::kWorker, nullptr,
       [&s](Call& call, const Responder& responder) { suggest(s, call, responder); }, deadline},
      {"label.meanings", "0.2", Role::kLabel, "global labels that local ones may mean",
       Lane::kWorker, nullptr,
       [&s](Call& call, const Responder& responder) { meanings(s, call, responder); }, deadline},
  };
}

}  // namespace moil::daemon
