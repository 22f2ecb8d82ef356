#include "daemon/service/job_planner.h"

#include "base/file.h"
#include "datasets/labels/sample_files.h"

namespace moil::daemon {
namespace {

// A file that is gone when nobody needs it any more.
class PassingFile {
 public:
  PassingFile(std::filesystem::path path, const std::string& text) : path_(std::move(path)) {
    write_file_atomic(path_, text);
  }
  ~PassingFile() { remove(); }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;

  void remove() const {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

JobPlanner::JobPlanner(WorkerCalls& calls, const WorkerCommand& command, const StateLayout& layout,
                       const Config& config, const ModelStore& models)
    : calls_(calls), command_(command), layout_(layout), config_(config), models_(models) {}

void JobPlanner::start(const JobSpec& spec, const std::vector<std::string>& options,
                       const Responder& responder) {
  JobFile file;
  file.base_version = models_.active(spec.model).value().version;
  file.version = file.base_version + 1;
  file.threads = spec.threads.value_or(command_.default_threads());
  file.cache_quota_bytes = config_.cache.quota_bytes;
  file.leave_free_bytes = config_.disk.leave_free_bytes;
  file.spec = spec;
  data::make_private_folder(layout_.jobs());
  const auto path = layout_.jobs() / ("plan-" + std::to_string(next_++) + ".json");
  const auto document = std::make_shared<const PassingFile>(path, to_json(file).dump(2) + "\n");
  WorkerCalls::Answer answer;
  // Removed before the reply: who has it may look into the state folder.
  answer.result = [responder, document](const Json& result) {
    document->remove();
    Json plan = result;
    plan.erase("event");
    responder.result(plan);
  };
  answer.error = [responder, document](std::exception_ptr error) {
    document->remove();
    responder.error(rpc_error(error));
  };
  calls_.start(command_.plan(document->path(), file.threads, options), std::move(answer));
}

}  // namespace moil::daemon
