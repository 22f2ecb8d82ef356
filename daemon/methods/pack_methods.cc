// pack.import, list, rm
#include <algorithm>
#include <charconv>

#include "base/files/file.h"
#include "daemon/log/log.h"
#include "daemon/loop/background.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/no_params.h"
#include "daemon/rpc/dispatcher.h"
#include "daemon/rpc/error.h"
#include "daemon/rpc/limits.h"
#include "daemon/spec/new_names.h"
#include "daemon/spec/pack_told.h"
#include "daemon/state/job_store.h"
#include "daemon/state/schedule_store.h"
#include "daemon/state/trash.h"
#include "daemon/upkeep/housekeeping.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"

namespace moil::daemon {
namespace fs = std::filesystem;

namespace {

struct PackImport {
  std::string name;
  std::string path;             // what messages call it
  Json files = Json::object();  // by name: the number of the descriptor that came along
};

struct PackParams {
  std::string name;
};

const Fields<PackImport>& fields_of(const PackImport*) {
  static const Fields<PackImport> table = {
      field("name", &PackImport::name, Need::kRequired, check_new_name),
      field("path", &PackImport::path),
      field("files", &PackImport::files, Need::kRequired),
  };
  return table;
}

const Fields<PackParams>& fields_of(const PackParams*) {
  static const Fields<PackParams> table = {
      field("name", &PackParams::name, Need::kRequired, check_name),
  };
  return table;
}

std::map<std::string, int> files_of_pack(const Json& files, const Call& call) {
  const std::string what = "the parameters of pack.import";
  if (!files.is_object() || !files.contains("pack.json"))
    throw ValidationError(what, {{"/files", "expected pack.json and its shards, by name"}});
  std::map<std::string, int> open;
  for (const auto& [name, number] : files.items()) {
    const std::string at = pointer_to("/files", name);
    if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos)
      throw ValidationError(what, {{at, "expected a plain file name"}});
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= call.files.size())
      throw ValidationError(
          what, {{at, "expected the number of a descriptor that came along (" +
                          std::to_string(call.files.size()) + " did), found " + describe(number)}});
    open[name] = call.files[number.get<std::size_t>()].get();
  }
  return open;
}

// A worker has checked what lies in the state folder.
Json told_of(const StateLayout& layout, const std::string& name) {
  constexpr std::uint64_t kMostBytes = 64 << 20;
  const fs::path folder = layout.pack(name);
  const Json manifest = parsed_json(read_text(folder / "pack.json", kMostBytes));
  return pack_told(manifest, name, folder);
}

void import_pack(const PackImport& params, Call& call, const Responder& responder,
                 WorkerCalls& calls, const WorkerCommand& command) {
  const auto files = files_of_pack(params.files, call);
  const auto owner = std::make_shared<Call>(std::move(call));
  WorkerCalls::Answer answer;
  answer.result = [responder, owner, path = params.path](const Json& pack) {
    log_info("pack {} imported from {}", pack.value("name", ""), path);
    responder.result(pack);
  };
  answer.error = [responder](std::exception_ptr error) { responder.error(rpc_error(error)); };
  answer.whose = responder;
  calls.start(command.import_pack(params.name, params.path, files), std::move(answer));
}

Json packs_in(const StateLayout& layout) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(layout.packs(), error))
    if (!entry.path().filename().native().starts_with('.'))
      names.push_back(entry.path().filename());
  std::ranges::sort(names);
  Json packs = Json::array();
  for (const std::string& name : names) packs.push_back(told_of(layout, name));
  return {{"packs", std::move(packs)}};
}

void list_packs(const NoParams&, const Responder& responder, Background& background,
                const StateLayout& layout) {
  answer_in_background(background, responder, [&layout] { return packs_in(layout); });
}

// What needs the pack, in words; empty: nothing.
std::string user_of(const std::string& pack, const JobStore& jobs, const ScheduleStore& schedules) {
  for (const Schedule& schedule : schedules.all())
    if (schedule.spec.job.global.pack == pack) return "schedule \"" + schedule.spec.name + "\"";
  std::string user;
  for (const JobState state : {JobState::kQueued, JobState::kRunning})
    jobs.list(state, 0, Details::kWith, [&](const Job& job) {
      if (job.spec.global.pack == pack) user = "job " + std::to_string(job.id);
      return user.empty();
    });
  return user;
}

void remove_pack(const PackParams& params, const Responder& responder, const StateLayout& layout,
                 const JobStore& jobs, const ScheduleStore& schedules, Housekeeping& housekeeping) {
  const fs::path folder = layout.pack(params.name);
  if (!fs::is_directory(folder))
    throw Error(ErrorCode::kNotFound, "there is no pack \"" + params.name + "\"; see pack.list");
  if (const std::string user = user_of(folder, jobs, schedules); !user.empty())
    throw Error(ErrorCode::kFailedPrecondition,
                user + " mixes from the pack \"" + params.name + "\"; remove that first");
  housekeeping.remove_files([&layout, folder] { throw_away(layout, folder); }, responder,
                            {{"name", params.name}});
}

}  // namespace

MethodTable pack_methods(const Parts& by) {
  using Lane = Method::Lane;
  return {
      {"pack.import", "0.2", Role::kAdmin, "copy a global pack into the state folder",
       Lane::kWorker, by(import_pack), std::chrono::minutes(10), kMostFiles},
      {"pack.list", "0.2", Role::kRead, "packs in the state folder", Lane::kSteps, by(list_packs)},
      {"pack.rm", "0.2", Role::kAdmin, "remove a pack that nothing mixes from", Lane::kSteps,
       by(remove_pack)},
  };
}

}  // namespace moil::daemon
