// Whether systemd's journal keeps the log (journal_sink.h). Any thread.
#pragma once

namespace moil::daemon {

// Whether stderr is the journal's (JOURNAL_STREAM of systemd.exec(5)).
[[nodiscard]] bool stderr_is_journal();
// Whether the log goes to the journal, from the first JournalSink on.
[[nodiscard]] bool logs_to_journal();

}  // namespace moil::daemon
