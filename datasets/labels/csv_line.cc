#include "datasets/labels/csv_line.h"

#include <algorithm>
#include <charconv>

namespace moil::data {
namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Up to the separator behind it, or to the end.
void take_field(std::string_view& rest, char separator, std::size_t most, std::string& field) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  field.clear();
  std::size_t i = 0;
  if (rest.starts_with('"')) {
    for (i = 1; i < rest.size(); ++i) {
      if (rest[i] == '"' && !rest.substr(i).starts_with("\"\"")) break;
      if (rest[i] == '"') ++i;
      if (field.size() < most) field += rest[i];
    }
    i = std::min(i, rest.size());
  }
  const std::size_t end = std::min(rest.find(separator, i), rest.size());
  if (i == 0) field = without_blanks(rest.substr(0, end)).substr(0, most);
  rest.remove_prefix(end);
}

}  // namespace

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

bool next_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

char separator_of(std::string_view line) {
  for (const char separator : {',', ';', '\t'})
    if (line.find(separator) != std::string_view::npos) return separator;
  return ' ';
}

std::vector<std::string> fields_of(std::string_view line, char separator) {
  std::vector<std::string> fields;
  for (CsvFields all(line, separator, line.size()); all.next();) fields.push_back(all.field());
  return fields;
}

CsvFields::CsvFields(std::string_view line, char separator, std::size_t most)
    : rest_(separator == ' ' ? without_blanks(line) : line), separator_(separator), most_(most) {}

bool CsvFields::next() {
  if (ended_) return false;
  take_field(rest_, separator_, most_, field_);
  ended_ = rest_.empty();
  if (!ended_) rest_.remove_prefix(1);
  return true;
}

bool to_number(std::string_view text, double& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_missing(std::string_view field) {
  static constexpr std::string_view kWords[] = {"NA",  "N/A",  "n/a",  "<NA>", "NaN",
                                                "nan", "NULL", "null", "None", "?"};
  return field.empty() || std::ranges::find(kWords, field) != std::end(kWords);
}

bool is_nameless(std::string_view name) { return name.empty() || name.starts_with("Unnamed: "); }

bool are_names(const std::vector<std::string>& fields) {
  const auto first = std::ranges::find_if_not(fields, is_missing);
  double value = 0;
  return first != fields.end() && !to_number(*first, value);
}

}  // namespace moil::data
