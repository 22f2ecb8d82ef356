#include "daemon/workers/importer.h"

#include "daemon/log/log.h"

namespace moil::daemon {

Importer::Importer(WorkerCalls& calls, const WorkerCommand& command, const StateLayout& layout,
                   Database& db, ModelStore& models, std::function<void()> put_in_service)
    : calls_(calls),
      command_(command),
      layout_(layout),
      db_(db),
      models_(models),
      put_in_service_(std::move(put_in_service)) {}

void Importer::start(const ImportRequest& request, const std::map<std::string, int>& files,
                     const std::shared_ptr<const void>& owner, const Responder& responder) {
  const auto active = models_.active(request.name);
  const auto parent = active ? std::optional(active->version) : std::nullopt;
  const std::int64_t version = models_.reserve(request.name, parent, std::nullopt);
  WorkerCalls::Answer answer;
  answer.result = [this, request, version, responder, owner](const Json& result) {
    responder.result(record(request, version, result));
  };
  answer.error = [this, request, version, responder](std::exception_ptr error) {
    responder.error(rpc_error(error));
    models_.discard(request.name, version);
  };
  answer.whose = responder;
  try {
    calls_.start(command_.import({request.path, files, request.name, version, request.pack}),
                 std::move(answer));
  } catch (...) {
    models_.discard(request.name, version);
    throw;
  }
}

Json Importer::record(const ImportRequest& request, std::int64_t version, const Json& result) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  models_.record(request.name, version, result.value("summary", ""),
                 result.value("details", Json::object()), request.activate);
  if (request.activate) models_.forget_anchor(request.name);
  transaction.commit();
  if (request.activate) put_in_service_();
  log_info("model {} version {} imported from {}", request.name, version, request.path);
  return to_json(models_.get(request.name, version), layout_);
}

}  // namespace moil::daemon
