#include "base/safetensors/strict_json.h"

#include <set>
#include <vector>

#include "base/error.h"

namespace moil {
namespace {

// Judges a document before anything is built of it, in time that grows with its length alone. (The
// library's parser with a callback searches every object for what the callback discarded, as often
// as it has members.) The parser itself does not recurse.
class Judge final : public Json::json_sax_t {
 public:
  Judge(const std::string& where, int max_depth) : where_(where), max_depth_(max_depth) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (names_.back().insert(name).second) return true;
    throw Error(ErrorCode::kBadData, where_ + ": \"" + name + "\" appears twice in one object");
  }
  // The parser that builds the document finds it again and says what it is.
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  bool enter() {
    names_.emplace_back();
    if (static_cast<int>(names_.size()) <= max_depth_) return true;
    throw Error(ErrorCode::kBadData,
                where_ + ": JSON nests deeper than " + std::to_string(max_depth_) + " levels");
  }
  bool leave() {
    names_.pop_back();
    return true;
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
  Judge judge(where, max_depth);
  try {
    (void)Json::sax_parse(text, &judge);
    return parsed_json(text);
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
