// Where the log goes, for a program that begins.
#pragma once

#include <string>

#include "daemon/log/log.h"

namespace moil::daemon {

// For whom the log is.
enum class LogReader {
  kService,  // the journal if stderr is its, else stderr; whoever keeps the log adds time and
             // process
  kPerson    // stderr, with time and colour
};

// `state_folder` marks the journal's lines (journal_sink.h). Once, before any other thread logs.
void start_log(LogReader reader, LogLevel level, const std::string& state_folder);

}  // namespace moil::daemon
