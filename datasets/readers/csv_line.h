// Lines and fields of CSV text.
//
// Pure functions; safe from any thread. A CsvFields is one thread's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace moil::data {

// Cuts the next line off, without its end; false where nothing is left.
[[nodiscard]] bool next_line(std::string_view& text, std::string_view& line);

// ',', ';' or a tab, whichever a line has; a space where it has none of them.
[[nodiscard]] char separator_of(std::string_view line);

// The fields of a line: spaces around them are gone, and so are quotes, within which a separator is
// text and a doubled quote is one. Several spaces that separate are one.
[[nodiscard]] std::vector<std::string> fields_of(std::string_view line, char separator);

// The same one after the other, in the memory of one: a line may have millions.
class CsvFields {
 public:
  CsvFields(std::string_view line, char separator);
  bool next();                                         // false behind the last one
  const std::string& field() const { return field_; }  // until the next one

 private:
  std::string_view rest_;
  char separator_;
  bool ended_ = false;
  std::string field_;
};

// The whole of `text` as a number; it may be one that is not finite.
[[nodiscard]] bool to_number(std::string_view text, double& value);

}  // namespace moil::data
