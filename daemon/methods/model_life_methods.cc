// model.diff, model.export: a worker does them, for the daemon knows no networks.
#include <limits>
#include <map>

#include "daemon/methods/methods.h"
#include "daemon/methods/versions.h"
#include "daemon/rpc/page.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"

namespace moil::daemon {
namespace {

// --- model.diff ---------------------------------------------------------------------------------

struct DiffParams {
  std::string model;
  std::int64_t a = 0, b = 0;
  std::int64_t from = 0;  // a label's place in the list
};

const Fields<DiffParams>& fields_of(const DiffParams*) {
  static const Fields<DiffParams> table = {
      field("model", &DiffParams::model, Need::kRequired, check_name),
      field("a", &DiffParams::a, Need::kRequired),
      field("b", &DiffParams::b, Need::kRequired),
      field("from", &DiffParams::from, Need::kOptional,
            between(std::int64_t{0}, std::numeric_limits<std::int64_t>::max())),
  };
  return table;
}

// What a version is known to get right, by label.
struct Rights {
  std::map<std::string, Json> global, local;  // {"held_out", "right"}

  // when: "before" or "after" the night whose scores these are.
  Rights(const Json& scores, const char* when) {
    if (!scores.is_array()) return;
    for (const Json& label : scores) {
      const std::string name = label.value("label", "");
      add(global, name, label.value("global", Json()), when);
      add(local, name, label.value("local", Json()), when);
    }
  }
  static Json of(const std::map<std::string, Json>& rights, const std::string& label) {
    const auto found = rights.find(label);
    return found == rights.end() ? Json(nullptr) : found->second;
  }

 private:
  static void add(std::map<std::string, Json>& rights, const std::string& name, const Json& side,
                  const char* when) {
    if (side.is_object())
      rights[name] = {{"held_out", side.value("held_out", 0)}, {"right", side.value(when, 0)}};
  }
};

struct Measurements {
  Rights a, b;
  Json same_held_out;  // null: not known
};

// From a night between the two if there is one: it measured both on the same samples.
Measurements measurements(const ModelStore& models, const ModelVersion& a, const ModelVersion& b) {
  const Provenance of_a = models.provenance(a.model, a.version);
  const Provenance of_b = models.provenance(b.model, b.version);
  const Json &scores_a = of_a.label_scores, &scores_b = of_b.label_scores;
  if (b.parent == a.version && scores_b.is_array())
    return {{scores_b, "before"}, {scores_b, "after"}, true};
  if (a.parent == b.version && scores_a.is_array())
    return {{scores_a, "after"}, {scores_a, "before"}, true};
  const auto held_out = [](const Provenance& p) {
    return p.record.is_object() ? p.record.value("/data/held_out"_json_pointer, Json()) : Json();
  };
  Json same;
  if (held_out(of_a).is_string() && held_out(of_b).is_string())
    same = held_out(of_a) == held_out(of_b);
  return {{scores_a, "after"}, {scores_b, "after"}, std::move(same)};
}

Json sides(const std::map<std::string, Json>& a, const std::map<std::string, Json>& b,
           const std::string& label) {
  Json of_a = Rights::of(a, label), of_b = Rights::of(b, label);
  if (of_a.is_null() && of_b.is_null()) return nullptr;
  return {{"a", std::move(of_a)}, {"b", std::move(of_b)}};
}

Json diff_reply(const ModelStore& models, const StateLayout& layout, const DiffParams& params,
                Json found) {
  const ModelVersion a = models.get(params.model, params.a);
  const ModelVersion b = models.get(params.model, params.b);
  const Measurements measured = measurements(models, a, b);
  Page page(std::numeric_limits<std::size_t>::max());
  const Json& labels = found.at("labels");
  for (std::size_t i = static_cast<std::size_t>(params.from); i < labels.size(); ++i) {
    Json entry = labels[i];
    const std::string name = entry.value("label", "");
    entry["global"] = sides(measured.a.global, measured.b.global, name);
    entry["local"] = sides(measured.a.local, measured.b.local, name);
    if (!page.add(std::move(entry), {{"from", i + 1}})) break;
  }
  Json reply = std::move(page).finish("labels");
  reply["a"] = to_json(a, layout);
  reply["b"] = to_json(b, layout);
  reply["layers"] = std::move(found.at("layers"));
  reply["same_held_out"] = measured.same_held_out;
  return reply;
}

void diff(const DiffParams& params, const Responder& responder, const ModelStore& models,
          const StateLayout& layout, WorkerCalls& calls, const WorkerCommand& command) {
  (void)models.get(params.model, params.a);
  (void)models.get(params.model, params.b);
  WorkerCalls::Answer answer;
  answer.result = [&models, &layout, params, responder](const Json& found) {
    responder.result(diff_reply(models, layout, params, found));
  };
  answer.error = [responder](std::exception_ptr error) { responder.error(rpc_error(error)); };
  answer.whose = responder;
  calls.start(
      command.diff(layout.version(params.model, params.a), layout.version(params.model, params.b)),
      std::move(answer));
}

// --- model.export -------------------------------------------------------------------------------

struct ExportParams {
  std::string model;
  std::int64_t version = 0;  // 0: the active one
  int file = 0;              // index of the descriptors sent along
  std::string format = "onnx";
};

std::optional<std::string> check_format(const std::string& format) {
  if (format == "onnx" || format == "tflite") return std::nullopt;
  return "expected \"onnx\" or \"tflite\"; found \"" + format + "\"";
}

const Fields<ExportParams>& fields_of(const ExportParams*) {
  static const Fields<ExportParams> table = {
      field("model", &ExportParams::model, Need::kRequired, check_name),
      field("version", &ExportParams::version),
      field("file", &ExportParams::file, Need::kRequired),
      field("format", &ExportParams::format, Need::kOptional, check_format),
  };
  return table;
}

void export_model(const ExportParams& params, Call& call, const Responder& responder,
                  const ModelStore& models, const StateLayout& layout, WorkerCalls& calls,
                  const WorkerCommand& command) {
  if (params.file < 0 || static_cast<std::size_t>(params.file) >= call.files.size()) {
    throw ValidationError(
        "the parameters of model.export",
        {{"/file", "expected a file from 0 to less than " + std::to_string(call.files.size()) +
                       ", as many were sent along, open for writing; found " +
                       std::to_string(params.file)}});
  }
  const ModelVersion version = version_or_active(models, params.model, params.version);
  const auto file =
      std::make_shared<UniqueFd>(std::move(call.files[static_cast<std::size_t>(params.file)]));
  WorkerCalls::Answer answer;
  answer.result = [responder, version, file](const Json& result) {
    responder.result({{"model", version.model},
                      {"version", version.version},
                      {"summary", result.at("summary")},
                      {"bytes", result.at("bytes")}});
  };
  answer.error = [responder](std::exception_ptr error) { responder.error(rpc_error(error)); };
  answer.whose = responder;
  calls.start(command.export_model(layout.version(version.model, version.version), file->get(),
                                   params.format),
              std::move(answer));
}

}  // namespace

MethodTable model_life_methods(const Parts& by) {
  using Lane = Method::Lane;
  return {
      {"model.diff", "0.2", Role::kLabel, "what tells two versions apart", Lane::kWorker, by(diff),
       std::chrono::minutes(5)},
      {"model.export", "0.2", Role::kLabel, "write a version as ONNX or TensorFlow Lite",
       Lane::kWorker, by(export_model), std::chrono::minutes(10), 1},
  };
}

}  // namespace moil::daemon
