#include "daemon/service/job_planner.h"

#include "base/file.h"
#include "datasets/labels/sample_files.h"

namespace moil::daemon {
namespace {

// A file that is gone when nobody needs it any more.
std::shared_ptr<const std::filesystem::path> passing_file(const std::filesystem::path& path,
                                                          const std::string& text) {
  write_file_atomic(path, text);
  return {new std::filesystem::path(path), [](const std::filesystem::path* p) {
            std::error_code ignored;
            std::filesystem::remove(*p, ignored);
            delete p;
          }};
}

}  // namespace

JobPlanner::JobPlanner(WorkerCalls& calls, const WorkerCommand& command, const StateLayout& layout,
                       const Config& config, const ModelStore& models)
    : calls_(calls), command_(command), layout_(layout), config_(config), models_(models) {}

void JobPlanner::start(const JobSpec& spec, bool picture, const Responder& responder) {
  JobFile file;
  file.base_version = models_.active(spec.model).value().version;
  file.version = file.base_version + 1;
  file.threads = spec.threads.value_or(command_.default_threads());
  file.cache_quota_bytes = config_.cache.quota_bytes;
  file.spec = spec;
  data::make_private_folder(layout_.jobs());
  const auto path = layout_.jobs() / ("plan-" + std::to_string(next_++) + ".json");
  const auto document = passing_file(path, to_json(file).dump(2) + "\n");
  WorkerCalls::Answer answer;
  answer.result = [responder, document](const Json& result) {
    Json plan = result;
    plan.erase("event");
    responder.result(plan);
  };
  answer.error = [responder, document](std::exception_ptr error) {
    responder.error(rpc_error(error));
  };
  calls_.start(command_.plan(*document, file.threads, picture), std::move(answer));
}

}  // namespace moil::daemon
