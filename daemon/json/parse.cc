#include "daemon/json/parse.h"

#include <vector>

namespace moil::daemon {
namespace {

// The end (one past the closing quote) of the string that begins at text[at].
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

// Past a comment that begins at text[at], if one does.
std::size_t skip_comment(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  std::size_t end = at;
  if (rest.starts_with("//")) end = text.find('\n', at);
  if (rest.starts_with("/*")) {
    end = text.find("*/", at);
    if (end != std::string_view::npos) end += 2;
  }
  return end == std::string_view::npos ? text.size() : end;
}

// Walks over the text keeping the pointer of the innermost open object or list.
class LineWalker {
 public:
  explicit LineWalker(std::string_view text) : text_(text) {}

  std::map<std::string, int> walk() {
    while (at_ < text_.size()) step();
    return std::move(lines_);
  }

 private:
  struct Open {
    std::string pointer;
    bool list;
    int index;
    bool expects_name;
  };

  void step() {
    const std::size_t past = skip_comment(text_, at_);
    if (past != at_) return advance(past);
    const char c = text_[at_];
    if (c == '"') return string();
    if (c == '{' || c == '[') return open(c == '[');
    if ((c == '}' || c == ']') && !open_.empty()) open_.pop_back();
    if (c == ',' && !open_.empty()) next_item();
    advance(at_ + 1);
  }

  void string() {
    const std::size_t end = skip_string(text_, at_);
    if (!open_.empty() && open_.back().expects_name) {
      const Json name = json_or_discarded(text_.substr(at_, end - at_));
      open_.back().expects_name = false;
      current_ = pointer_to(open_.back().pointer, name.is_string() ? name.get<std::string>() : "");
      lines_.emplace(current_, line_);
    }
    advance(end);
  }

  void open(bool list) {
    open_.push_back({current_, list, -1, !list});
    if (list) next_item();
    advance(at_ + 1);
  }

  void next_item() {
    Open& top = open_.back();
    top.expects_name = !top.list;
    if (!top.list) return;
    current_ = pointer_to(top.pointer, std::to_string(++top.index));
    lines_.emplace(current_, line_);
  }

  void advance(std::size_t to) {
    for (; at_ < to; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string current_;
  std::vector<Open> open_;
  std::map<std::string, int> lines_;
};

// "parse error at line 1, column 7: ..." out of the library's "[json.exception...] parse error
// ...".
std::string without_tag(const std::string& what) {
  const std::size_t end = what.find("] ");
  return end == std::string::npos ? what : what.substr(end + 2);
}

}  // namespace

bool nests_deeper_than(std::string_view text, int limit) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > limit) return true;
    ++at;
  }
  return false;
}

Json parse_json(std::string_view text, int nesting_limit, Comments comments) {
  if (nests_deeper_than(text, nesting_limit)) {
    throw Error(ErrorCode::kBadData,
                "JSON nests deeper than " + std::to_string(nesting_limit) + " levels");
  }
  try {
    return comments == Comments::kAllowed ? parsed_json_with_comments(text) : parsed_json(text);
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::kBadData, without_tag(error.what()));
  }
}

std::string to_line(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::map<std::string, int> lines_of(std::string_view text) { return LineWalker(text).walk(); }

}  // namespace moil::daemon
