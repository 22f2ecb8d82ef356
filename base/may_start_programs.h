// Whether this process may start others, tried.
//
// Any thread.
#pragma once

namespace moil {

[[nodiscard]] bool may_start_programs();

}  // namespace moil
