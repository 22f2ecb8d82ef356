// Lines and fields of CSV text, read alike by whoever reads any: what tells a table from text, the
// reader of tables, and a sample's numbers.
//
// Pure functions; safe from any thread. A CsvFields is one thread's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace moil::data {

// Without the byte-order mark that some programs write before UTF-8.
[[nodiscard]] std::string_view without_mark(std::string_view text);

// Cuts the next line off, without its end; false if nothing is left.
[[nodiscard]] bool next_line(std::string_view& text, std::string_view& line);

// ',', ';' or a tab, whichever a line has; a space if it has none of them.
[[nodiscard]] char separator_of(std::string_view line);

// The fields of a line: spaces around them are gone, and so are quotes, within which a separator is
// text and a doubled quote is one. Several spaces that separate are one.
[[nodiscard]] std::vector<std::string> fields_of(std::string_view line, char separator);

// The same one after the other, in the memory of one, of which no more than `most` bytes are kept:
// a line may have millions, or one that is as long as a file.
class CsvFields {
 public:
  CsvFields(std::string_view line, char separator, std::size_t most);
  bool next();                                         // false behind the last one
  const std::string& field() const { return field_; }  // until the next one

 private:
  std::string_view rest_;
  char separator_;
  std::size_t most_;
  bool ended_ = false;
  std::string field_;
};

// The whole of `text` as a number; it may be one that is not finite.
[[nodiscard]] bool to_number(std::string_view text, double& value);

// Whether a field says that there is no value: nothing, or a word as "NA", "nan" and "null".
[[nodiscard]] bool is_missing(std::string_view field);

// Whether a column's name is none, as pandas writes and reads its index.
[[nodiscard]] bool is_nameless(std::string_view name);

// Whether a first line names the columns: the first of its fields that says something is no number.
// Columns of numbers, as years are, may have numbers for names, all but the first.
[[nodiscard]] bool are_names(const std::vector<std::string>& fields);

}  // namespace moil::data
