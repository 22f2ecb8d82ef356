// model.import, list, get, activate, rollback
#include "daemon/methods/methods.h"
#include "daemon/service/service.h"

namespace moil::daemon {
namespace {

std::optional<std::string> check_source(const std::string& path) {
  if (!path.empty() && path[0] == '/') return std::nullopt;
  return "expected an absolute path, found \"" + path + "\"";
}

}  // namespace

const Fields<ImportRequest>& fields_of(const ImportRequest*) {
  static const Fields<ImportRequest> table = {
      field("name", &ImportRequest::name, Need::kRequired, check_name),
      field("path", &ImportRequest::path, Need::kRequired, check_source),
      field("activate", &ImportRequest::activate),
  };
  return table;
}

namespace {

struct ListParams {
  std::optional<std::string> model;
};

struct ModelParams {
  std::string model;
  std::int64_t version = 0;  // 0: the active one
};

const Fields<ListParams>& fields_of(const ListParams*) {
  static const Fields<ListParams> table = {field("model", &ListParams::model)};
  return table;
}

const Fields<ModelParams>& fields_of(const ModelParams*) {
  static const Fields<ModelParams> table = {
      field("model", &ModelParams::model, Need::kRequired, check_name),
      field("version", &ModelParams::version),
  };
  return table;
}

Json list(Service& s, const Call& call) {
  const auto params = read_fields<ListParams>(call.params, "the parameters of model.list");
  Json models = Json::array();
  for (const auto& v : params.model ? s.models.versions(*params.model) : s.models.list()) {
    models.push_back(to_json(v, s.layout));
  }
  return {{"models", std::move(models)}};
}

Json get(Service& s, const Call& call) {
  const auto params = read_fields<ModelParams>(call.params, "the parameters of model.get");
  if (params.version != 0) return to_json(s.models.get(params.model, params.version), s.layout);
  const auto active = s.models.active(params.model);
  if (!active) {
    throw Error(ErrorCode::kNotFound,
                "there is no active version of model \"" + params.model + "\"");
  }
  return to_json(*active, s.layout);
}

Json activate(Service& s, const Call& call) {
  const auto params = read_fields<ModelParams>(call.params, "the parameters of model.activate");
  s.models.activate(params.model, params.version);
  return to_json(s.models.get(params.model, params.version), s.layout);
}

Json rollback(Service& s, const Call& call) {
  const auto params = read_fields<ModelParams>(call.params, "the parameters of model.rollback");
  if (params.version != 0) {
    throw ValidationError("the parameters of model.rollback",
                          {{"/version", "not expected here; use model.activate"}});
  }
  return to_json(s.models.rollback(params.model), s.layout);
}

void import(Service& s, const Call& call, const Responder& responder) {
  const auto params = read_fields<ImportRequest>(call.params, "the parameters of model.import");
  s.importer.start(params, responder);
}

}  // namespace

MethodTable model_methods(Service& s) {
  using Where = Method::Where;
  return {
      {"model.import", "0.1", "take a model from a folder", Where::kDeferred, nullptr,
       [&s](Call& call, const Responder& responder) { import(s, call, responder); }},
      {"model.list", "0.1", "models and their versions", Where::kLoop,
       [&s](Call& call) { return list(s, call); }, nullptr},
      {"model.get", "0.1", "one version, by default the active one", Where::kLoop,
       [&s](Call& call) { return get(s, call); }, nullptr},
      {"model.activate", "0.1", "put a version in service", Where::kLoop,
       [&s](Call& call) { return activate(s, call); }, nullptr},
      {"model.rollback", "0.1", "go back to the version before", Where::kLoop,
       [&s](Call& call) { return rollback(s, call); }, nullptr},
  };
}

}  // namespace moil::daemon
