// nlohmann/json, compiled once: what its headers would make again in every file that includes them
// (values, reading, writing) lies in json.cc. Include this file, never <nlohmann/json.hpp>.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::serializer<nlohmann::json>;

namespace moil {

using Json = nlohmann::json;

// The document. Throws Json::parse_error. Text from strangers is held against a limit on nesting
// first (strict_json.h, daemon/json/parse.h).
[[nodiscard]] Json parsed_json(std::string_view text);
// The same, but for "//" and "/* */", which count as white space.
[[nodiscard]] Json parsed_json_with_comments(std::string_view text);
// The document, or a value that is_discarded() if the text is no JSON.
[[nodiscard]] Json json_or_discarded(std::string_view text);

}  // namespace moil
