#include "engine/io/strict_json.h"

#include <set>
#include <vector>

#include "base/error.h"

namespace moil {
namespace {

using Json = nlohmann::json;

// Watches the parser's events. The parser itself does not recurse.
class Watcher {
 public:
  Watcher(const std::string& where, int max_depth) : where_(where), max_depth_(max_depth) {}

  bool operator()(Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        enter();
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        names_.pop_back();
        break;
      case Json::parse_event_t::key:
        add(parsed.get_ref<const std::string&>());
        break;
      case Json::parse_event_t::value:
        break;
    }
    return true;
  }

 private:
  void enter() {
    names_.emplace_back();
    if (static_cast<int>(names_.size()) > max_depth_) {
      throw Error(ErrorCode::kBadData,
                  where_ + ": JSON nests deeper than " + std::to_string(max_depth_) + " levels");
    }
  }
  void add(const std::string& name) {
    if (!names_.back().insert(name).second) {
      throw Error(ErrorCode::kBadData, where_ + ": \"" + name + "\" appears twice in one object");
    }
  }

  const std::string& where_;
  int max_depth_;
  std::vector<std::set<std::string>> names_;  // of every open object (empty for lists)
};

// The library's text without its "[json.exception.parse_error.101] ".
std::string plain(const Json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

Json parse_strict_json(std::string_view text, const std::string& where, int max_depth) {
  Watcher watcher(where, max_depth);
  try {
    return Json::parse(text, [&watcher](int, Json::parse_event_t event, const Json& parsed) {
      return watcher(event, parsed);
    });
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::kBadData, where + ": " + plain(error));
  }
}

void fail_expected(const std::string& where, const std::string& pointer,
                   const std::string& expected, const Json& found) {
  std::string text = std::string("a ") + found.type_name();
  if (found.is_array() || found.is_object()) text = std::string("an ") + found.type_name();
  if (found.is_null()) text = "null";
  if (found.is_primitive() && !found.is_null()) {
    // What strangers wrote goes into a message only while it is short.
    const std::string value = found.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (value.size() <= 40) text = value;
  }
  throw Error(ErrorCode::kBadData, where + ": " + (pointer.empty() ? "the document" : pointer) +
                                       ": expected " + expected + ", found " + text);
}

std::string child_pointer(const std::string& pointer, std::string_view key) {
  std::string result = pointer + "/";
  for (const char c : key) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace moil
