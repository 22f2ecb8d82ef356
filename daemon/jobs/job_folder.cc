#include "daemon/jobs/job_folder.h"

#include <filesystem>
#include <vector>

#include "base/files/file.h"
#include "daemon/json/parse.h"
#include "daemon/log/job_log.h"
#include "daemon/spec/worker_protocol.h"
#include "daemon/state/trash.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

constexpr std::uint64_t kMostJobFileBytes = 16 << 20;

// Empty if there is none, or none that can be read.
std::optional<JobFile> read_job_file(const fs::path& path) {
  try {
    return job_file_from_json(parse_json(read_text(path, kMostJobFileBytes), kMostNesting));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

void JobFolder::prepare(const Job& job, const JobFile& file) const {
  const fs::path path = layout_.job_file(job.id);
  if (job.attempts == 0) return remove(path);
  auto before = read_job_file(path);
  if (before && before->version == file.version) return judge_by(path, *before, file);
  if (before && before->base_version != file.base_version) drop_work(job.id);
  remove(path);
}

// What the guard compares with is what it is now; all that the weights hang on stays.
void JobFolder::judge_by(const fs::path& path, JobFile& kept, const JobFile& now) const {
  const std::string before = to_json(kept).dump(2);
  kept.anchor_version = now.anchor_version;
  kept.withdrawn = now.withdrawn;
  if (const std::string text = to_json(kept).dump(2); text != before)
    write_file_atomic(path, text + "\n");
}

void JobFolder::drop_work(std::int64_t job) const {
  std::error_code error;
  std::vector<fs::path> made;
  for (const auto& entry : fs::directory_iterator(layout_.job(job), error)) {
    if (entry.path() != layout_.job_file(job)) made.push_back(entry.path());
  }
  try {
    const Job found = jobs_.get(job);
    if (found.version && !is_finished(found.state)) {
      made.push_back(layout_.incoming(found.spec.model, *found.version));
      made.push_back(layout_.version(found.spec.model, *found.version));
    }
  } catch (const Error& e) {  // a folder that is no job's
    job_log(job).warn("{}", e.what());
  }
  for (const fs::path& path : made) remove(path);
}

void JobFolder::settle(const Job& job) const {
  flusher_.then([this, id = job.id](const std::exception_ptr& lost) {
    if (lost) return;  // housekeeping finds it
    try {
      const JobState now = jobs_.standing(id).state;
      if (is_finished(now) && now != JobState::kFailed) remove(layout_.job(id));
    } catch (const Error&) {  // the job was removed, and its folder with it
    }
  });
}

void JobFolder::remove(const fs::path& path) const { throw_away(layout_, path); }

}  // namespace moil::daemon
