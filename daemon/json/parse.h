// JSON as text. Strangers' is parsed with a limit on nesting, and positions for configuration
// errors.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "daemon/json/fields.h"

namespace moil::daemon {

// Whether objects and lists nest deeper than `limit`. One pass without recursion, so that a
// million brackets cost a scan and no stack; text that is not JSON gives either answer.
bool nests_deeper_than(std::string_view text, int limit);

enum class Comments { kForbidden, kAllowed };

// The document; kBadData (with where, and what was expected) if it is not JSON or nests deeper.
Json parse_json(std::string_view text, int nesting_limit, Comments comments = Comments::kForbidden);

// Any document as one line; bytes that are not UTF-8 are replaced.
std::string to_line(const Json& document);

// JSON pointer of every member and item -> the line (from 1) it begins on. For valid JSON.
std::map<std::string, int> lines_of(std::string_view text);

}  // namespace moil::daemon
