#include "datasets/tables/csv_names.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "datasets/labels/csv_line.h"

namespace moil::data {
namespace {

using CsvRow = std::vector<std::string>;

constexpr std::array<std::string_view, 4> kHeads{"display_name", "label", "name", "class"};

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// Spaces separate nothing here: names have them. Every line is cut as the first one that has
// another separator.
std::vector<CsvRow> rows_of(std::string_view text) {
  text = without_mark(text);
  char separator = '\0';
  std::string_view line;
  for (std::string_view rest = text; separator == '\0' && next_line(rest, line);)
    if (separator_of(line) != ' ') separator = separator_of(line);
  std::vector<CsvRow> rows;
  for (std::string_view rest = text; next_line(rest, line);)
    if (!line.empty()) rows.push_back(fields_of(line, separator));
  return rows;
}

std::optional<std::size_t> named_column(const CsvRow& head) {
  for (const std::string_view name : kHeads) {
    const auto found = std::ranges::find(head, name, in_small_letters);
    if (found != head.end()) return static_cast<std::size_t>(found - head.begin());
  }
  return std::nullopt;
}

bool is_all_numbers(const std::vector<CsvRow>& rows, std::size_t column) {
  return std::ranges::all_of(rows, [&](const CsvRow& row) {
    double ignored = 0;
    return column < row.size() && to_number(row[column], ignored);
  });
}

std::size_t only_column(const std::vector<CsvRow>& rows, const std::string& where) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < rows[0].size(); ++i)
    if (!is_all_numbers(rows, i)) columns.push_back(i);
  if (columns.size() == 1 || rows[0].size() == 1) return columns.empty() ? 0 : columns[0];
  throw Error(ErrorCode::kBadData, where + ": it is not clear which of its " +
                                       std::to_string(rows[0].size()) +
                                       " columns has the names; head that column \"label\"");
}

}  // namespace

std::vector<std::string> names_of_csv(std::string_view text, std::size_t expected,
                                      const std::string& where) {
  std::vector<CsvRow> rows = rows_of(text);
  if (rows.empty()) throw Error(ErrorCode::kBadData, where + ": there are no names in it");
  // A class may be called "label" itself.
  const auto named = rows.size() == expected ? std::nullopt : named_column(rows[0]);
  if (named || rows.size() == expected + 1) rows.erase(rows.begin());
  if (rows.empty()) throw Error(ErrorCode::kBadData, where + ": there are no names in it");
  const std::size_t column = named ? *named : only_column(rows, where);
  std::vector<std::string> names;
  for (const CsvRow& row : rows) {
    if (column >= row.size() || row[column].empty())
      throw Error(ErrorCode::kBadData,
                  where + ": name " + std::to_string(names.size() + 1) + " is missing");
    names.push_back(row[column]);
  }
  return names;
}

}  // namespace moil::data
