// Records with columns of text, or of which some lack values: what they are as numbers.
//
// A column of numbers is one place of the network's input; if its records may lack a value there is
// a second, which is 1 if the value is missing. A column of text is a place for each of its values,
// 1 in the record's own and 0 in the others; a value that the column does not know is 0 in all.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moil::data {

class SampleDataset;

// A column of text has at most so many values.
inline constexpr std::size_t kMostColumnValues = 32;

struct RowColumn {
  std::string name;
  bool may_lack = false;            // of numbers
  std::vector<std::string> values;  // of text; empty: numbers

  [[nodiscard]] std::size_t places() const {
    return values.empty() ? 1 + (may_lack ? 1 : 0) : values.size();
  }
};

[[nodiscard]] std::size_t places_of(const std::vector<RowColumn>& columns);
// "age, age is missing, colour = red, ...".
[[nodiscard]] std::string names_of_places(const std::vector<RowColumn>& columns);

// The numbers of a record's places; NaN in the place of a number that is missing. CSV: a line of
// names, which say what is where, and a record, or a record alone, in the columns' order. NPY: a
// number for each column, of which none is text. kBadData, beginning with `name`, naming the
// column.
[[nodiscard]] std::vector<double> read_record(std::span<const std::uint8_t> bytes,
                                              std::string_view name,
                                              const std::vector<RowColumn>& columns);

// The texts of a record's columns, in their order; of CSV, as above.
[[nodiscard]] std::vector<std::string> read_fields(std::span<const std::uint8_t> bytes,
                                                   std::string_view name,
                                                   const std::vector<RowColumn>& columns);
// What its line of names says; empty if it has none.
[[nodiscard]] std::vector<std::string> names_in_record(std::span<const std::uint8_t> bytes);

// What reading a record takes at most beside its file.
[[nodiscard]] std::uint64_t bytes_of_fields(std::uint64_t file_bytes);

// The columns of a dataset of records with their names, if some lack values or are text; empty
// if all are plain numbers. kBadData names a column of text that has more than
// kMostColumnValues values.
[[nodiscard]] std::vector<RowColumn> columns_of(const SampleDataset& dataset);

// A line of CSV of these fields.
[[nodiscard]] std::string csv_line_of(const std::vector<std::string>& fields);

}  // namespace moil::data
