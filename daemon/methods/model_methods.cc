// model.import, list, get, activate, rollback, anchor, pin, rm, predict
#include <algorithm>

#include "base/seconds.h"
#include "daemon/jobs/scheduler.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/sample_content.h"
#include "daemon/methods/versions.h"
#include "daemon/rpc/limits.h"
#include "daemon/rpc/page.h"
#include "daemon/spec/model_files.h"
#include "daemon/spec/new_names.h"
#include "daemon/state/canary_store.h"
#include "daemon/state/schedule_store.h"
#include "daemon/upkeep/housekeeping.h"
#include "daemon/workers/importer.h"
#include "daemon/workers/predictor.h"

namespace moil::daemon {
namespace {

std::optional<std::string> check_source(const std::string& path) {
  if (!path.empty() && path[0] == '/') return std::nullopt;
  return "expected an absolute path, found \"" + path + "\"";
}

}  // namespace

const Fields<ImportRequest>& fields_of(const ImportRequest*) {
  static const Fields<ImportRequest> table = {
      field("name", &ImportRequest::name, Need::kRequired, check_new_name),
      field("path", &ImportRequest::path, Need::kRequired, check_source),
      field("activate", &ImportRequest::activate),
      field("files", &ImportRequest::files),
      field("pack", &ImportRequest::pack, Need::kOptional, check_source),
  };
  return table;
}

namespace {

struct ModelListParams {
  std::optional<std::string> model;
  std::string after;  // "MODEL/VERSION"
  int limit = kMostListed;
};

struct ModelParams {
  std::string model;
  std::int64_t version = 0;  // 0: the active one
};

struct RemovalParams {
  std::string model;
  std::optional<std::int64_t> version;
  bool whole = false;  // all versions
};

const Fields<RemovalParams>& fields_of(const RemovalParams*) {
  static const Fields<RemovalParams> table = {
      field("model", &RemovalParams::model, Need::kRequired, check_name),
      field("version", &RemovalParams::version),
      field("whole", &RemovalParams::whole),
  };
  return table;
}

struct RollbackParams {
  std::string model;
  std::string why;  // of the user, for whoever looks later
  std::optional<std::int64_t> version;
};

const Fields<RollbackParams>& fields_of(const RollbackParams*) {
  constexpr std::size_t kMost = 1000;
  const auto check_why = [](const std::string& why) -> std::optional<std::string> {
    if (why.size() <= kMost) return std::nullopt;
    return "expected at most " + std::to_string(kMost) + " bytes, found " +
           std::to_string(why.size());
  };
  static const Fields<RollbackParams> table = {
      field("model", &RollbackParams::model, Need::kRequired, check_name),
      field("why", &RollbackParams::why, Need::kOptional, check_why),
      field("version", &RollbackParams::version),
  };
  return table;
}

struct PinParams {
  std::string model;
  std::int64_t version = 0;
  bool pinned = true;
};

const Fields<PinParams>& fields_of(const PinParams*) {
  static const Fields<PinParams> table = {
      field("model", &PinParams::model, Need::kRequired, check_name),
      field("version", &PinParams::version, Need::kRequired),
      field("pinned", &PinParams::pinned),
  };
  return table;
}

struct PredictParams {
  std::optional<std::string> model;
  std::vector<SampleParams> images;
  int top = 5;
  bool timeline = false;
};

const Fields<PredictParams>& fields_of(const PredictParams*) {
  static const Fields<PredictParams> table = {
      field("model", &PredictParams::model),
      field("images", &PredictParams::images, Need::kRequired),
      field("top", &PredictParams::top, Need::kOptional, between(1, 1000)),
      field("timeline", &PredictParams::timeline),
  };
  return table;
}

const Fields<ModelListParams>& fields_of(const ModelListParams*) {
  static const Fields<ModelListParams> table = {
      field("model", &ModelListParams::model),
      field("after", &ModelListParams::after),
      field("limit", &ModelListParams::limit, Need::kOptional, between(1, kMostListed)),
  };
  return table;
}

const Fields<ModelParams>& fields_of(const ModelParams*) {
  static const Fields<ModelParams> table = {
      field("model", &ModelParams::model, Need::kRequired, check_name),
      field("version", &ModelParams::version),
  };
  return table;
}

Json list_versions(const ModelListParams& params, const ModelStore& models,
                   const StateLayout& layout) {
  const auto versions = params.model ? models.versions(*params.model) : models.list();
  auto first = versions.begin();
  if (!params.after.empty()) {
    first = std::find_if(first, versions.end(),
                         [&](const ModelVersion& v) { return place_of(v) == params.after; });
    if (first == versions.end()) {
      throw ValidationError("the parameters of model.list",
                            {{"/after", "there is no version \"" + params.after +
                                            "\"; ask for the list from its beginning"}});
    }
    ++first;
  }
  Page page(static_cast<std::size_t>(params.limit));
  while (first != versions.end() &&
         page.add(to_json(*first, layout), {{"after", place_of(*first)}})) {
    ++first;
  }
  return std::move(page).finish("models");
}

Json canary_of(Database& database, const ModelVersion& version) {
  const auto canary = CanaryStore(database).find(version.model);
  if (!canary || canary->version != version.version) return nullptr;
  return to_json(*canary);
}

Json get_version(const ModelParams& params, const ModelStore& models, const StateLayout& layout,
                 Database& database) {
  const ModelVersion version = version_or_active(models, params.model, params.version);
  Json reply = to_json(version, layout);
  reply["provenance"] = models.provenance(version.model, version.version).record;
  reply["canary"] = canary_of(database, version);
  return reply;
}

Json activate(const ModelParams& params, ModelStore& models, const StateLayout& layout,
              Scheduler& scheduler) {
  models.activate(params.model, params.version);
  scheduler.bases_changed();
  return to_json(models.get(params.model, params.version), layout);
}

Json rollback(const RollbackParams& params, ModelStore& models, const StateLayout& layout,
              DiskReserve& reserve, Scheduler& scheduler) {
  if (params.version) {
    throw ValidationError("the parameters of model.rollback",
                          {{"/version", "not expected here; use model.activate"}});
  }
  const Withdrawal withdrawal{now_milliseconds(), Withdrawal::Cause::kUser, params.why};
  Json reply = reserve.for_deletion(
      [&] { return to_json(models.rollback(params.model, withdrawal), layout); });
  scheduler.bases_changed();
  return reply;
}

// Its schedules would come for nothing.
Json remove_schedules(const std::string& model, ScheduleStore& schedules) {
  Json names = Json::array();
  for (const Schedule& schedule : std::vector<Schedule>(schedules.all()))
    if (schedule.spec.job.model == model) names.push_back(schedule.spec.name);
  for (const Json& name : names) schedules.remove(name);
  return names;
}

void remove_model(const RemovalParams& params, const Responder& responder, ModelStore& models,
                  ScheduleStore& schedules, Housekeeping& housekeeping) {
  if (params.version.has_value() == params.whole)
    throw ValidationError("the parameters of model.rm",
                          {{"/version", "give either a version, or \"whole\" for all of them"}});
  Json reply{{"model", params.model}};
  if (params.whole) {
    reply["versions"] = models.remove_whole(params.model);
    reply["schedules"] = remove_schedules(params.model, schedules);
  } else {
    models.remove(params.model, *params.version);
    reply["version"] = *params.version;
  }
  housekeeping.remove_files(
      [&models, model = params.model] { models.remove_unknown_folders(model); }, responder,
      std::move(reply));
}

Json pin(const PinParams& params, ModelStore& models) {
  models.pin(params.model, params.version, params.pinned);
  return {{"model", params.model}, {"version", params.version}, {"pinned", params.pinned}};
}

Json anchor(const ModelParams& params, ModelStore& models) {
  if (params.version != 0) models.name_anchor(params.model, params.version);
  const ModelVersion active = version_or_active(models, params.model, 0);
  const auto anchor = models.anchor(params.model, active.version);
  return {{"model", params.model}, {"version", anchor.version}, {"named", anchor.named}};
}

// The descriptors that came along, by the names of the files that they are.
std::map<std::string, int> handed_over(const Json& files, const Call& call) {
  const std::string what = "the parameters of model.import";
  if (!files.is_object())
    throw ValidationError(what, {{"/files", "expected an object, found " + describe(files)}});
  std::map<std::string, int> open;
  FieldErrors errors;
  for (const auto& [name, number] : files.items()) {
    const std::string at = pointer_to("/files", name);
    const std::vector<std::string> known(kModelFiles.begin(), kModelFiles.end());
    if (std::ranges::find(known, name) == known.end()) {
      errors.push_back({at, unknown_message("file", name.substr(0, 200), known)});
    } else if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= call.files.size()) {
      errors.push_back({at, "expected the number of a descriptor that came along (" +
                                std::to_string(call.files.size()) + " did), found " +
                                describe(number)});
    } else {
      open[name] = call.files[number.get<std::size_t>()].get();
    }
  }
  if (!errors.empty()) throw ValidationError(what, std::move(errors));
  return open;
}

void import(const ImportRequest& params, Call& call, const Responder& responder,
            Importer& importer) {
  const auto files = handed_over(params.files, call);
  const auto owner = std::make_shared<Call>(std::move(call));
  importer.start(params, files, owner, responder);
}

void predict(const PredictParams& params, Call& call, const Responder& responder,
             Predictor& predictor) {
  if (params.images.empty() || params.images.size() > kFilesAtOnce) {
    throw ValidationError(
        "the parameters of model.predict",
        {{"/images", "expected 1 to " + std::to_string(kFilesAtOnce) + " images, found " +
                         std::to_string(params.images.size())}});
  }
  check_samples("images", params.images, call);
  const auto kept = std::make_shared<std::pair<Call, std::vector<UniqueFd>>>();
  kept->first = std::move(call);
  std::vector<int> descriptors;
  for (const SampleParams& image : params.images)
    descriptors.push_back(descriptor_of(image, kept->first, kept->second));
  predictor.start(params.model.value_or(""), descriptors, {params.top, params.timeline}, responder,
                  kept);
}

}  // namespace

MethodTable model_methods(const Parts& by) {
  using Lane = Method::Lane;
  return {
      {"model.import", "0.1", Role::kAdmin, "take a model from a folder", Lane::kWorker, by(import),
       std::chrono::minutes(10), kModelFiles.size()},
      {"model.list", "0.1", Role::kRead, "models and their versions", Lane::kLoop,
       by(list_versions)},
      {"model.get", "0.1", Role::kRead, "one version, by default the active one", Lane::kLoop,
       by(get_version)},
      {"model.activate", "0.1", Role::kOperate, "put a version in service", Lane::kLoop,
       by(activate)},
      {"model.rollback", "0.1", Role::kOperate, "go back to the version before", Lane::kLoop,
       by(rollback)},
      {"model.rm", "0.1", Role::kAdmin, "remove a version that is not in service, or a model",
       Lane::kSteps, by(remove_model)},
      {"model.pin", "0.2", Role::kAdmin, "keep a version, however old it becomes", Lane::kLoop,
       by(pin)},
      {"model.anchor", "0.2", Role::kAdmin, "the version that no night may fall far behind",
       Lane::kLoop, by(anchor)},
      {"model.predict", "0.1", Role::kLabel, "what a model says of images", Lane::kWorker,
       by(predict), std::chrono::minutes(10), kMostFiles},
  };
}

}  // namespace moil::daemon
