// Reads the fields of a JSON object strictly: a missing, mistyped or unknown field is an error that
// names it.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/error.h"
#include "base/json/json.h"

namespace moil::data {

class JsonFields {
 public:
  // `where` starts every message; `code` is what is thrown. The object outlives this.
  JsonFields(const nlohmann::json& object, std::string where, ErrorCode code)
      : object_(object), where_(std::move(where)), code_(code) {
    if (!object.is_object()) fail("expected an object, found " + shown(object));
  }

  [[nodiscard]] bool has(const char* field) const { return object_.contains(field); }

  [[nodiscard]] const nlohmann::json& at(const char* field) {
    if (!has(field)) fail("'" + std::string(field) + "' is missing");
    seen_.insert(field);
    return object_.at(field);
  }

  template <typename T>
  [[nodiscard]] T get(const char* field) {
    const nlohmann::json& value = at(field);
    try {
      return value.get<T>();
    } catch (const nlohmann::json::exception&) {
      fail("'" + std::string(field) + "' is of the wrong type: " + shown(value));
    }
  }

  // A whole number from low to high.
  [[nodiscard]] std::int64_t whole(const char* field, std::int64_t low, std::int64_t high) {
    const nlohmann::json& value = at(field);
    const bool fits = value.is_number_integer() && value >= low && value <= high;
    if (!fits) {
      fail("'" + std::string(field) + "' is " + shown(value) + ", expected " + std::to_string(low) +
           " to " + std::to_string(high));
    }
    return value.get<std::int64_t>();
  }

  // A name of an enumeration that NLOHMANN_JSON_SERIALIZE_ENUM describes; that macro reads what it
  // does not know as the first name, so what does not come back the same is refused.
  template <typename T>
  [[nodiscard]] T name(const char* field) {
    const T value = get<T>(field);
    if (nlohmann::json(value) != at(field)) {
      fail("'" + std::string(field) + "' is " + shown(at(field)) + ", which is not known");
    }
    return value;
  }

  // After all are read: what is left is unknown.
  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (!seen_.contains(key)) fail("unknown field '" + key + "'");
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(code_, where_ + ": " + what);
  }

 private:
  static std::string shown(const nlohmann::json& value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 80);
  }

  const nlohmann::json& object_;
  std::string where_;
  ErrorCode code_;
  std::set<std::string> seen_;
};

}  // namespace moil::data
