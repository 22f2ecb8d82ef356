#include "daemon/log/start_log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "daemon/log/journal.h"
#include "daemon/log/journal_sink.h"

namespace moil::daemon {

void start_log(LogReader reader, LogLevel level, const std::string& state_folder) {
  const bool person = reader == LogReader::kPerson;
  const bool journal = !person && stderr_is_journal();
  auto logger = journal ? std::make_shared<spdlog::logger>(
                              "moild", std::make_shared<JournalSink>(state_folder))
                        : spdlog::stderr_color_mt("moild");
  if (!journal) logger->set_pattern(person ? "%H:%M:%S %^%l%$ %v" : "%l %v");
  spdlog::set_default_logger(logger);
  set_log_level(level);
}

}  // namespace moil::daemon
