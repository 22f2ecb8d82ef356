#include "daemon/worker/guarded.h"

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <new>

#include "base/access.h"
#include "base/error.h"
#include "base/files/disk_full.h"

namespace moil::worker {
namespace {

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kBadData:
    case ErrorCode::kNotFound:
      return daemon::kExitBadData;
    default:
      return daemon::kExitSoftware;
  }
}

int told(daemon::EventWriter& events, const Error& error, bool no_room = false) {
  events.error(error);
  return no_room ? daemon::kExitNoRoom : exit_code_of(error.code());
}

// The code of the exception that is being handled.
int exit_code_of_current(daemon::EventWriter& events) {
  try {
    throw;
  } catch (const DiskFull& e) {
    return told(events, e, /*no_room=*/true);
  } catch (const Error& e) {
    return told(events, e);
  } catch (const std::bad_alloc&) {
    return told(events, Error(ErrorCode::kResourceExhausted, "the worker ran out of memory"));
  } catch (const std::filesystem::filesystem_error& e) {
    return told(events, access_error(e.what(), e.path1(), e.code().value()),
                is_disk_full(e.code().value()));
  } catch (const std::exception& e) {
    return told(events, Error(ErrorCode::kInternal, e.what()));
  } catch (...) {
    return told(events, Error(ErrorCode::kInternal, "the worker met an error of an unknown kind"));
  }
}

daemon::EventWriter* last_words = nullptr;

[[noreturn]] void end_process() {
  int code = daemon::kExitSoftware;
  if (std::current_exception())
    code = exit_code_of_current(*last_words);
  else
    last_words->error(Error(ErrorCode::kInternal, "the worker was terminated by a library"));
  ::_exit(code);
}

}  // namespace

int guarded(daemon::EventWriter& events, const std::function<int()>& work) {
  try {
    return work();
  } catch (...) {
    return exit_code_of_current(events);
  }
}

void guard_threads(daemon::EventWriter& events) {
  last_words = &events;
  std::set_terminate(end_process);
}

}  // namespace moil::worker
