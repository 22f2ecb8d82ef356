#include "base/json/json.h"

template class nlohmann::basic_json<>;
template class nlohmann::detail::serializer<nlohmann::json>;

namespace moil {

Json parsed_json(std::string_view text) { return Json::parse(text); }

Json parsed_json_with_comments(std::string_view text) {
  return Json::parse(text, nullptr, true, true);
}

Json json_or_discarded(std::string_view text) { return Json::parse(text, nullptr, false); }

}  // namespace moil
