// Reading JSON that may be wrong: a value and where it stands, so that errors name it.
//
// Errors are kBadData and begin with the file's name. Refers to the document and the name, which
// outlive it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"
#include "base/safetensors/strict_json.h"

namespace moil {

// A value of the document and where it stands.
struct JsonNode {
  const nlohmann::json& json;
  std::string pointer;
  const std::string& where;

  [[noreturn]] void fail(const std::string& expected) const {
    fail_expected(where, pointer, expected, json);
  }
  [[noreturn]] void bad(const std::string& what) const {
    throw Error(ErrorCode::kBadData,
                where + ": " + (pointer.empty() ? "the document" : pointer) + ": " + what);
  }
  JsonNode at(const char* key) const {
    const auto it = json.find(key);
    if (it == json.end()) bad("\"" + std::string(key) + "\" is missing");
    return {*it, child_pointer(pointer, key), where};
  }
  std::vector<JsonNode> items(const char* expected) const {
    if (!json.is_array()) fail(expected);
    std::vector<JsonNode> nodes;
    for (std::size_t i = 0; i < json.size(); ++i) {
      nodes.push_back({json[i], child_pointer(pointer, std::to_string(i)), where});
    }
    return nodes;
  }
  std::string word() const {
    if (!json.is_string() || json.get_ref<const std::string&>().empty()) fail("a non-empty string");
    return json.get<std::string>();
  }
  double number_from_0() const {
    if (!json.is_number() || !(json.get<double>() >= 0) || !std::isfinite(json.get<double>()))
      fail("a number of at least 0");
    return json.get<double>();
  }
  std::int64_t integer(std::int64_t least) const {
    const bool fits = json.is_number_integer() &&
                      (!json.is_number_unsigned() ||
                       json.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
    if (!fits || json.get<std::int64_t>() < least) {
      fail(least == std::numeric_limits<std::int64_t>::min()
               ? "a whole number of 64 bits"
               : "a whole number of at least " + std::to_string(least));
    }
    return json.get<std::int64_t>();
  }
  // An object that has no keys but these.
  void only(std::initializer_list<std::string_view> known) const {
    if (!json.is_object()) fail("an object");
    for (const auto& [key, value] : json.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      std::string names;
      for (const auto name : known) names += (names.empty() ? "" : ", ") + std::string(name);
      throw Error(ErrorCode::kBadData, where + ": " + child_pointer(pointer, key) +
                                           ": unknown key; known here: " + names);
    }
  }
};

}  // namespace moil
