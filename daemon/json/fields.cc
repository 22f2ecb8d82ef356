#include "daemon/json/fields.h"

#include "daemon/json/nearest.h"

namespace moil::daemon {
namespace {

constexpr std::size_t kShownValue = 60;  // of a wrong value, in a message

std::string summary(const std::string& what, const FieldErrors& errors) {
  std::string text = what + " is wrong";
  for (std::size_t i = 0; i < errors.size(); ++i) {
    text += i == 0 ? ": " : "; ";
    text += (errors[i].pointer.empty() ? "" : errors[i].pointer + ": ") + errors[i].message;
  }
  return text;
}

}  // namespace

Json to_json(const FieldErrors& errors) {
  Json list = Json::array();
  for (const auto& error : errors)
    list.push_back({{"pointer", error.pointer}, {"message", error.message}});
  return list;
}

FieldErrors field_errors_from_json(const Json& list) {
  FieldErrors errors;
  for (const Json& item : list.is_array() ? list : Json::array()) {
    if (item.is_object()) errors.push_back({item.value("pointer", ""), item.value("message", "")});
  }
  return errors;
}

ValidationError::ValidationError(const std::string& what, FieldErrors errors)
    : Error(ErrorCode::kInvalidArgument, summary(what, errors)), errors_(std::move(errors)) {}

ValidationError ValidationError::within(const std::string& what, const std::string& pointer) const {
  FieldErrors errors = errors_;
  for (FieldError& error : errors) error.pointer.insert(0, pointer);
  return {what, std::move(errors)};
}

std::string pointer_to(const std::string& pointer, std::string_view member) {
  std::string out = pointer + "/";
  for (const char c : member) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string describe(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    default:
      break;
  }
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShownValue) text = text.substr(0, kShownValue) + "...";
  return text;
}

std::string unknown_message(std::string_view what, std::string_view found,
                            std::span<const std::string> known) {
  std::string text = "unknown " + std::string(what) + " \"" + std::string(found) + "\"";
  if (const std::string near = nearest(found, known); !near.empty()) {
    return text + "; did you mean \"" + near + "\"?";
  }
  text += "; known: ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i == 0 ? "" : ", ") + known[i];
  return text;
}

}  // namespace moil::daemon
