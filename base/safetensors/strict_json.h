// JSON from files that may be wrong or hostile: bounded nesting, no name twice in an object.
//
// Thread-safe. Errors are kBadData and begin with `where`, the file's name.
#pragma once

#include <string>
#include <string_view>

#include "base/json/json.h"

namespace moil {

// Refuses text that nests deeper than `max_depth` before anything deeper is built.
[[nodiscard]] nlohmann::json parse_strict_json(std::string_view text, const std::string& where,
                                               int max_depth);

// Throws "WHERE: POINTER: expected EXPECTED, found a string" (or whatever `found` is).
[[noreturn]] void fail_expected(const std::string& where, const std::string& pointer,
                                const std::string& expected, const nlohmann::json& found);

// POINTER/KEY with the key's "~" and "/" escaped (RFC 6901).
[[nodiscard]] std::string child_pointer(const std::string& pointer, std::string_view key);

}  // namespace moil
