// A processor that was lost leaves its driver behind: threads that may be at work for as long as
// the process is. A library's destructors then run into them, and a process that did all it had to
// do ends in a crash, or never.
#pragma once

namespace moil {

// From now on the process ends, by main's return or by exit(), without the destructors of what was
// loaded before: with its exit code, and once what was printed is out. Any thread.
void note_lost_processor();

}  // namespace moil
