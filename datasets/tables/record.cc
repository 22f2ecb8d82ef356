#include "datasets/tables/record.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/error.h"
#include "datasets/labels/csv_line.h"
#include "datasets/labels/media_type.h"
#include "datasets/samples/dataset.h"
#include "datasets/tables/numbers.h"

namespace moil::data {
namespace {

using Fields = std::vector<std::string>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void fail_in_record(std::string_view name, const std::string& what) {
  throw Error(ErrorCode::kBadData, std::string(name) + ": " + what);
}

constexpr std::size_t kMostLines = 3, kMostFields = 1 << 16;  // of a record's file, and of a line
constexpr std::size_t kLongestText = 4096;

Fields record_line(std::string_view line) {
  Fields fields;
  CsvFields each(line, separator_of(line), kLongestText);
  while (fields.size() < kMostFields && each.next()) fields.push_back(each.field());
  return fields;
}

// The lines of a file that hold something, as far as a record needs them.
std::vector<Fields> lines_of(std::span<const std::uint8_t> bytes) {
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size()), line;
  rest = without_mark(rest);
  std::vector<Fields> lines;
  while (lines.size() < kMostLines && next_line(rest, line))
    if (!line.empty()) lines.push_back(record_line(line));
  return lines;
}

// A line of names and a record behind it.
struct NamedRecord {
  Fields names, fields;
};

std::optional<NamedRecord> named_record(std::vector<Fields> lines) {
  if (lines.size() != 2 || !are_names(lines[0]) || lines[0].size() != lines[1].size())
    return std::nullopt;
  return NamedRecord{std::move(lines[0]), std::move(lines[1])};
}

double number_in(const std::string& field, const RowColumn& column, std::string_view name) {
  double value = 0;
  if (is_missing(field)) return kNone;
  if (!to_number(field, value) || !std::isfinite(value))
    fail_in_record(name, "column \"" + column.name + "\" is '" + field.substr(0, 40) +
                             "', expected a finite number, or nothing");
  return value;
}

void append_places(const std::string& field, const RowColumn& column, std::string_view name,
                   std::vector<double>& places) {
  for (const std::string& value : column.values) places.push_back(field == value ? 1 : 0);
  if (!column.values.empty()) return;
  places.push_back(number_in(field, column, name));
  if (column.may_lack) places.push_back(std::isnan(places.back()) ? 1 : 0);
}

// The fields of the columns, in their order.
Fields fields_by_name(const NamedRecord& record, const std::vector<RowColumn>& columns,
                      std::string_view name) {
  Fields fields;
  for (const RowColumn& column : columns) {
    const auto found = std::ranges::find(record.names, column.name);
    if (found == record.names.end())
      fail_in_record(name, "it has no column \"" + column.name + "\", which the model takes");
    fields.push_back(record.fields[static_cast<std::size_t>(found - record.names.begin())]);
  }
  return fields;
}

Fields fields_of_record(std::span<const std::uint8_t> bytes, std::string_view name,
                        const std::vector<RowColumn>& columns) {
  std::vector<Fields> lines = lines_of(bytes);
  if (lines.empty()) fail_in_record(name, "it holds no record");
  if (const auto record = named_record(lines)) return fields_by_name(*record, columns, name);
  if (lines.size() > 1)
    fail_in_record(name,
                   "it holds several lines; the model takes one record, with a line of names "
                   "before it or without");
  if (lines[0].size() != columns.size())
    fail_in_record(name, "it has " + std::to_string(lines[0].size()) + " fields; the model takes " +
                             std::to_string(columns.size()) +
                             "; a line of names before them says which they are");
  return std::move(lines[0]);
}

std::vector<double> places_of_numbers(std::span<const std::uint8_t> bytes, std::string_view name,
                                      const std::vector<RowColumn>& columns) {
  const Numbers numbers = read_numbers(bytes, name);
  if (numbers.values.size() != columns.size())
    fail_in_record(name, "it holds " + std::to_string(numbers.values.size()) +
                             " numbers; the model takes " + std::to_string(columns.size()));
  std::vector<double> places;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].values.empty())
      fail_in_record(name, "column \"" + columns[c].name +
                               "\" is text, which NPY has none of; "
                               "give the record as CSV");
    places.push_back(numbers.values[c]);
    if (columns[c].may_lack) places.push_back(0);
  }
  return places;
}

// What the records have in one column.
struct Seen {
  std::size_t texts = 0, missing = 0;
  std::set<std::string> values;  // one more than a column of text may have, at most

  void add(const std::string& field) {
    double value = 0;
    if (is_missing(field)) {
      ++missing;
      return;
    }
    if (!to_number(field, value)) ++texts;
    if (values.size() <= kMostColumnValues) values.insert(field);
  }
};

RowColumn column_of(const std::string& name, const Seen& seen) {
  if (seen.texts == 0) return {name, seen.missing > 0, {}};
  if (seen.values.size() <= kMostColumnValues)
    return {name, false, {seen.values.begin(), seen.values.end()}};
  throw Error(ErrorCode::kBadData,
              "column \"" + name + "\" is text of more than " + std::to_string(kMostColumnValues) +
                  " values, and each would be an input of its own; take it out of the table");
}

}  // namespace

std::size_t places_of(const std::vector<RowColumn>& columns) {
  std::size_t places = 0;
  for (const RowColumn& column : columns) places += column.places();
  return places;
}

std::uint64_t bytes_of_fields(std::uint64_t file_bytes) {
  constexpr std::uint64_t kAField = 4 * sizeof(std::string);  // in vectors that grow
  return file_bytes + kAField * std::min<std::uint64_t>(file_bytes, kMostLines * kMostFields);
}

std::string names_of_places(const std::vector<RowColumn>& columns) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const RowColumn& column : columns) {
    for (const std::string& value : column.values) add(column.name + " = " + value);
    if (column.values.empty()) add(column.name);
    if (column.may_lack) add(column.name + " is missing");
  }
  return names;
}

std::vector<std::string> read_fields(std::span<const std::uint8_t> bytes, std::string_view name,
                                     const std::vector<RowColumn>& columns) {
  const std::string_view media = media_type_of(bytes);
  if (media == kUtf16) fail_in_record(name, media_refusal(media));
  if (media == kNpy) fail_in_record(name, "it is NPY, which has no texts; give the record as CSV");
  return fields_of_record(bytes, name, columns);
}

std::vector<std::string> names_in_record(std::span<const std::uint8_t> bytes) {
  if (media_type_of(bytes) != kCsv) return {};
  auto record = named_record(lines_of(bytes));
  return record ? std::move(record->names) : Fields();
}

std::vector<double> read_record(std::span<const std::uint8_t> bytes, std::string_view name,
                                const std::vector<RowColumn>& columns) {
  if (media_type_of(bytes) == kNpy) return places_of_numbers(bytes, name, columns);
  const Fields fields = read_fields(bytes, name, columns);
  std::vector<double> places;
  for (std::size_t c = 0; c < columns.size(); ++c)
    append_places(fields[c], columns[c], name, places);
  return places;
}

std::vector<RowColumn> columns_of(const SampleDataset& dataset) {
  Fields names;
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const std::vector<std::uint8_t> bytes = dataset.encoded(i);
    if (media_type_of(bytes) == kNpy) continue;  // numbers, in the columns' order
    auto record = named_record(lines_of(bytes));
    if (!record || (!names.empty() && record->names != names)) return {};
    if (names.empty()) names = std::move(record->names);
    seen.resize(names.size());
    for (std::size_t c = 0; c < names.size(); ++c) seen[c].add(record->fields[c]);
  }
  std::vector<RowColumn> columns;
  for (std::size_t c = 0; c < names.size(); ++c) columns.push_back(column_of(names[c], seen[c]));
  const bool is_plain = std::ranges::all_of(
      columns, [](const RowColumn& c) { return c.values.empty() && !c.may_lack; });
  return is_plain ? std::vector<RowColumn>() : columns;
}

std::string csv_line_of(const std::vector<std::string>& fields) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ',';
    const bool is_empty_line = field.empty() && fields.size() == 1;
    if (!is_empty_line && field.find_first_not_of(kPlain) == std::string::npos) {
      line += field;
      continue;
    }
    line += '"';
    for (const char c : field) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + '\n';
}

}  // namespace moil::data
