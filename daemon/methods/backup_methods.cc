// system.backup, system.restore
#include "daemon/methods/methods.h"
#include "daemon/rpc/reply.h"
#include "daemon/upkeep/backups.h"

namespace moil::daemon {
namespace {

struct BackupParams {
  int file = 0;  // index of the descriptors sent along
  bool progress = false;
};

const Fields<BackupParams>& fields_of(const BackupParams*) {
  static const Fields<BackupParams> table = {
      field("file", &BackupParams::file, Need::kRequired),
      field("progress", &BackupParams::progress),
  };
  return table;
}

Backups::File file_of(const BackupParams& params, Call& call) {
  if (params.file < 0 || static_cast<std::size_t>(params.file) >= call.files.size())
    throw ValidationError(
        "the parameters of " + call.method,
        {{"/file", "expected a file from 0 to less than " + std::to_string(call.files.size()) +
                       ", as many were sent along; found " + std::to_string(params.file)}});
  return std::make_shared<const UniqueFd>(
      std::move(call.files[static_cast<std::size_t>(params.file)]));
}

// To the client who asked, unless it has not read what was sent before.
Backups::Progress progress_of(const BackupParams& params, const Call& call) {
  if (!params.progress) return {};
  return [client = call.client](const Json& event) {
    const auto asker = client.lock();
    if (!asker || !asker->is_open() || asker->waiting() > 0) return;
    asker->send(
        notification("system.progress", {{"stage", event["stage"]},
                                         {"done", event["done"]},
                                         {"total", event["total"]},
                                         {"seconds_left", event.value("seconds_left", Json())}}));
  };
}

void make_backup(const BackupParams& params, Call& call, const Responder& responder,
                 Backups& backups) {
  backups.make(file_of(params, call), responder, progress_of(params, call));
}

void restore_backup(const BackupParams& params, Call& call, const Responder& responder,
                    Backups& backups) {
  backups.restore(file_of(params, call), responder, progress_of(params, call));
}

}  // namespace

MethodTable backup_methods(const Parts& by) {
  const auto lane = Method::Lane::kWorker;
  const auto deadline = std::chrono::hours(12);  // of terabytes to a slow disk
  return {
      {"system.backup", "0.2", Role::kAdmin, "write all that cannot be made again to a file", lane,
       by(make_backup), deadline, 1},
      {"system.restore", "0.2", Role::kAdmin, "put a backup in place of the state", lane,
       by(restore_backup), deadline, 1},
  };
}

}  // namespace moil::daemon
