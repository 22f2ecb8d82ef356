// Who would compute what of a network beside a second processor, and what each selection would
// take, as text. moil-plan prints it as well, so it needs nothing else of moilctl's.
//
// Pure function; thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace moil::daemon::ctl {

// told: as engine/io/selection_json.h makes it. Lines, the last one ended, too.
[[nodiscard]] std::string processor_table(const nlohmann::json& told);

}  // namespace moil::daemon::ctl
