#include "datasets/readers/class_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "base/json/json.h"

namespace moil::data {
namespace {

using nlohmann::json;

std::string bare_name(std::string_view text) {
  constexpr std::string_view kAround = " \r\"";
  const std::size_t begin = std::min(text.find_first_not_of(kAround), text.size());
  const std::size_t end = text.find_last_not_of(kAround);
  return std::string(text.substr(begin, end == std::string_view::npos ? 0 : end + 1 - begin));
}

// "crane (134)" is a crane: labels that occur twice get their number.
std::string without_number(const std::string& label) {
  const std::size_t open = label.rfind(" (");
  if (open == std::string::npos || !label.ends_with(')')) return label;
  const auto digits = std::string_view(label).substr(open + 2, label.size() - open - 3);
  const bool number = !digits.empty() && std::ranges::all_of(digits, [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  return number ? label.substr(0, open) : label;
}

std::string spelling(const std::string& name) {
  std::string plain = name.substr(0, name.find(','));
  std::ranges::transform(plain, plain.begin(), [](unsigned char c) {
    return c == '_' || c == '-' ? ' ' : static_cast<char>(std::tolower(c));
  });
  return plain;
}

std::map<std::string, std::vector<std::string>> by_spelling(
    const std::vector<std::string>& labels) {
  std::map<std::string, std::vector<std::string>> found;
  for (const std::string& label : labels) found[spelling(without_number(label))].push_back(label);
  return found;
}

std::string cell(const std::vector<std::string>& row, std::size_t column) {
  return column < row.size() ? row[column] : std::string();
}

// The label that each row names, by the words in a column; empty if it names none.
std::vector<std::string> named_labels(const NameTable& table, std::size_t column,
                                      const std::vector<std::string>& labels) {
  const auto known = by_spelling(labels);
  std::map<std::string, std::size_t> rows, seen;
  for (const auto& row : table) ++rows[spelling(cell(row, column))];
  std::vector<std::string> result;
  for (const auto& row : table) {
    const std::string name = spelling(cell(row, column));
    const auto found = known.find(name);
    const std::size_t nth = seen[name]++;
    const bool clear =
        found != known.end() && (found->second.size() == 1 || found->second.size() == rows[name]);
    result.push_back(!clear                      ? std::string()
                     : found->second.size() == 1 ? found->second[0]
                                                 : found->second[nth]);
  }
  return result;
}

// The same by numbers: as many rows have one as there are labels.
std::vector<std::string> numbered_labels(const NameTable& table, std::size_t column,
                                         const std::vector<std::string>& labels) {
  std::vector<std::string> result;
  std::set<std::size_t> seen;
  for (const auto& row : table) {
    const std::string text = cell(row, column);
    std::size_t number = labels.size();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool good = error == std::errc() && end == text.data() + text.size() &&
                      number < labels.size() && seen.insert(number).second;
    result.push_back(good ? labels[number] : std::string());
  }
  if (seen.size() != labels.size()) result.assign(table.size(), {});
  return result;
}

// Each wanted class by the row that has it, or nothing if one is missing or two are one label.
std::optional<ClassNames> names_of(const std::vector<std::string>& wanted, const NameTable& table,
                                   std::size_t column, const std::vector<std::string>& row_labels,
                                   std::set<std::string> taken) {
  std::map<std::string, std::string> by_class;
  for (std::size_t i = 0; i < table.size(); ++i) by_class[cell(table[i], column)] = row_labels[i];
  ClassNames names;
  for (const std::string& name : wanted) {
    const auto found = by_class.find(name);
    if (found == by_class.end() || found->second.empty()) return std::nullopt;
    if (!taken.insert(found->second).second) return std::nullopt;
    names[name] = found->second;
  }
  return names;
}

std::set<std::string> known_classes(const std::vector<std::string>& classes,
                                    const std::vector<std::string>& labels) {
  const std::set<std::string> all(labels.begin(), labels.end());
  std::set<std::string> known;
  for (const std::string& name : classes)
    if (all.contains(name)) known.insert(name);
  return known;
}

NameTable table_of(const json& object) {
  NameTable table;
  for (const auto& [key, value] : object.items()) {
    std::vector<std::string> row{key};
    for (const json& item : value.is_array() ? value : json::array({value}))
      if (item.is_string()) row.push_back(item.get<std::string>());
    table.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> columns_of(std::string_view line, bool tabs) {
  std::vector<std::string> row;
  while (tabs && line.find('\t') != std::string_view::npos) {
    row.push_back(bare_name(line.substr(0, line.find('\t'))));
    line.remove_prefix(line.find('\t') + 1);
  }
  const std::size_t apart = tabs ? std::string_view::npos : line.find_first_of(" ,");
  row.push_back(bare_name(line.substr(0, apart)));
  if (apart != std::string_view::npos) row.push_back(bare_name(line.substr(apart + 1)));
  return row;
}

}  // namespace

NameTable parse_name_table(std::string_view text) {
  if (text.starts_with('{')) {
    const json object = json_or_discarded(text);
    if (object.is_object()) return table_of(object);
  }
  const bool tabs = text.find('\t') != std::string_view::npos;
  NameTable table;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!bare_name(line).empty()) table.push_back(columns_of(line, tabs));
  }
  return table;
}

std::vector<std::string> unknown_classes(const std::vector<std::string>& classes,
                                         const std::vector<std::string>& labels) {
  const auto known = known_classes(classes, labels);
  std::vector<std::string> unknown;
  for (const std::string& name : classes)
    if (!known.contains(name)) unknown.push_back(name);
  return unknown;
}

std::optional<ClassNames> match_by_table(const std::vector<std::string>& classes,
                                         const std::vector<std::string>& labels,
                                         const NameTable& table) {
  const auto wanted = unknown_classes(classes, labels);
  const auto taken = known_classes(classes, labels);
  std::size_t columns = 0;
  for (const auto& row : table) columns = std::max(columns, row.size());
  columns = std::min<std::size_t>(columns, 8);
  for (const auto& labels_in : {named_labels, numbered_labels}) {
    for (std::size_t to = 0; to < columns; ++to) {
      const auto row_labels = labels_in(table, to, labels);
      for (std::size_t from = 0; from < columns; ++from) {
        if (from == to) continue;
        if (auto names = names_of(wanted, table, from, row_labels, taken)) return names;
      }
    }
  }
  return std::nullopt;
}

std::optional<ClassNames> match_by_spelling(const std::vector<std::string>& classes,
                                            const std::vector<std::string>& labels) {
  NameTable table;
  for (const std::string& name : unknown_classes(classes, labels)) table.push_back({name, name});
  return match_by_table(classes, labels, table);
}

}  // namespace moil::data
