// A processor that was lost leaves its driver behind: threads that may be at work for as long as
// the process is. A library's destructors then run into them, and a process that did all it had to
// do ends in a crash, or never.
#pragma once

namespace moil {

// Any thread.
void note_lost_processor();

// For the end of main(), where the process's own threads have ended. Returns `code`, unless a
// processor of this process was lost: then the process ends here with that code, without
// destructors, once what was printed is out.
[[nodiscard]] int leave_processors(int code);

}  // namespace moil
