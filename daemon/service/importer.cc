#include "daemon/service/importer.h"

#include <spdlog/spdlog.h>

#include "daemon/json/parse.h"

namespace moil::daemon {
namespace {

constexpr std::size_t kMostImports = 4;
constexpr int kNesting = 64;

ErrorCode code_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    if (to_string(code) == name) return code;
  }
  return ErrorCode::kInternal;
}

}  // namespace

struct Importer::Import {
  ImportRequest request;
  std::int64_t version;
  Responder responder;
  Json result;
  Json error;
  std::unique_ptr<WorkerProcess> process;
};

Importer::Importer(EventLoop& loop, const WorkerCommand& command, const StateLayout& layout,
                   Database& db, ModelStore& models)
    : loop_(loop), command_(command), layout_(layout), db_(db), models_(models) {}

Importer::~Importer() = default;

void Importer::start(const ImportRequest& request, const Responder& responder) {
  if (imports_.size() >= kMostImports) {
    throw Error(ErrorCode::kResourceExhausted, "too many imports run already; try again later");
  }
  const auto active = models_.active(request.name);
  const auto parent = active ? std::optional(active->version) : std::nullopt;
  const std::int64_t version = models_.reserve(request.name, parent, std::nullopt);
  auto import = std::make_unique<Import>(Import{request, version, responder, {}, {}, {}});
  Import& ref = *import;
  try {
    import->process = std::make_unique<WorkerProcess>(
        loop_, command_.import(request.path, request.name, version),
        [this, &ref](const std::string& line) { on_line(ref, line);
  },
        [this, &ref](const ProcessExit& exit) {
    ended(ref, exit); });
}
catch (const Error&) {
  models_.discard(request.name, version);
  throw;
}
imports_.push_back(std::move(import));
}  // namespace moil::daemon

void Importer::on_line(Import& import, const std::string& line) {
  try {
    Json event = parse_json(line, kNesting);
    const std::string kind = event.is_object() ? event.value("event", "") : "";
    if (kind == "result") import.result = std::move(event);
    if (kind == "error") import.error = std::move(event);
  } catch (const std::exception& error) {
    spdlog::warn("import: the worker wrote a line that is no event: {}", error.what());
  }
}

void Importer::ended(Import& import, const ProcessExit& exit) {
  try {
    if (import.error.is_object()) {
      throw Error(code_named(import.error.value("code", "")),
                  import.error.value("message", "the import failed"));
    }
    if (exit.code != kExitDone || !import.result.is_object()) {
      throw Error(ErrorCode::kInternal, "the import's worker " + exit.text());
    }
    import.responder.result(record(import));
  } catch (...) {
    import.responder.error(rpc_error(std::current_exception()));
    models_.discard(import.request.name, import.version);
  }
  imports_.remove_if([&](const auto& entry) { return entry.get() == &import; });
}

Json Importer::record(const Import& import) {
  const auto& [name, path, activate] = import.request;
  Transaction transaction(db_, Transaction::Kind::kWrite);
  models_.record(name, import.version, import.result.value("summary", ""),
                 import.result.value("details", Json::object()), activate);
  transaction.commit();
  spdlog::info("model {} version {} imported from {}", name, import.version, path);
  return to_json(models_.get(name, import.version), layout_);
}

}  // namespace moil::daemon
