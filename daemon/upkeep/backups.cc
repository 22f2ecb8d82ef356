#include "daemon/upkeep/backups.h"

#include "base/error.h"
#include "base/files/file.h"
#include "daemon/log/log.h"
#include "daemon/rpc/error.h"
#include "daemon/state/trash.h"

namespace fs = std::filesystem;

namespace moil::daemon {

Backups::Backups(WorkerCalls& calls, const WorkerCommand& command, const StateLayout& layout,
                 Background& background, std::function<void()> restored)
    : calls_(calls),
      command_(command),
      layout_(layout),
      background_(background),
      restored_(std::move(restored)) {}

void Backups::make(const File& file, const Responder& responder, Progress progress) {
  const fs::path scratch = layout_.backing_up(next_++);
  WorkerCalls::Answer answer;
  answer.result = [this, scratch, responder, file](const Json& told) {
    throw_away(layout_, scratch);
    log_info("a backup was made");
    responder.result(told);
  };
  answer.error = [this, scratch, responder](const std::exception_ptr& error) {
    throw_away(layout_, scratch);
    responder.error(rpc_error(error));
  };
  answer.whose = responder;
  answer.progress = std::move(progress);
  calls_.start(command_.backup(scratch, file->get()), std::move(answer));
}

void Backups::restore(const File& file, const Responder& responder, Progress progress) {
  if (is_reading_)
    throw Error(ErrorCode::kFailedPrecondition, "a backup is being restored already");
  WorkerCalls::Answer answer;
  answer.result = [this, responder, file](const Json& told) { read(told, responder); };
  answer.error = [this, responder](const std::exception_ptr& error) { failed(error, responder); };
  answer.whose = responder;
  answer.progress = std::move(progress);
  calls_.start(command_.restore(file->get()), std::move(answer));
  is_reading_ = true;
}

// Once the folder has its name, the backup is the state, whatever happens.
void Backups::read(const Json& told, const Responder& responder) {
  if (!responder.is_open())
    throw Error(ErrorCode::kCancelled, "nobody waits for the backup any more");
  background_.submit([this, told, responder]() -> Background::Done {
    try {
      rename_durable(layout_.restoring(), layout_.restored());
    } catch (...) {
      return [this, responder, error = std::current_exception()] { failed(error, responder); };
    }
    return [this, told, responder] {
      responder.result(told);
      restored_();
    };
  });
}

void Backups::failed(const std::exception_ptr& error, const Responder& responder) {
  throw_away(layout_, layout_.restoring());
  is_reading_ = false;
  responder.error(rpc_error(error));
}

}  // namespace moil::daemon
