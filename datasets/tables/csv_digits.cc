#include "datasets/tables/csv_digits.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "datasets/images/codec.h"
#include "datasets/labels/csv_line.h"
#include "datasets/tables/gzip_text.h"

namespace moil::data {
namespace {

// Cuts the next field off; digits.csv writes its numbers as "5" or "5.000000000000000000e+00".
bool take_number(std::string_view& line, double& value) {
  const auto field = line.substr(0, line.find(','));
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool good = error == std::errc() && end == field.data() + field.size();
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return good;
}

}  // namespace

CsvDigits::CsvDigits(const std::filesystem::path& file, const CsvDigitsOptions& options)
    : file_(file), options_(options) {
  std::vector<std::string> names;
  for (int k = 0; k < options.classes; ++k) names.push_back(std::to_string(k));
  table_ = SampleTable(names);
  const std::string text = read_gzip_text(file, options.max_bytes);
  std::string_view rest = without_mark(text), line;
  for (std::size_t number = 1; next_line(rest, line); ++number)
    if (!line.empty()) parse_line(line, number);
  if (table_.size() == 0) fail(1, "the file holds no sample");
  table_.apply(options.split);
}

void CsvDigits::fail(std::size_t line, const std::string& what) const {
  throw Error(ErrorCode::kBadData, file_.string() + ":" + std::to_string(line) + ": " + what);
}

void CsvDigits::parse_line(std::string_view line, std::size_t number) {
  const int columns = options_.width * options_.height;
  double value = 0;
  Image image;
  image.resize(options_.width, options_.height, 1);
  for (int column = 0; column < columns; ++column) {
    if (line.empty()) {
      fail(number,
           "has " + std::to_string(column) + " columns, expected " + std::to_string(columns + 1));
    }
    if (!take_number(line, value) || !(value >= 0 && value <= options_.max_value)) {
      fail(number, "column " + std::to_string(column + 1) + ": expected a number from 0 to " +
                       std::to_string(options_.max_value));
    }
    image.pixels[static_cast<std::size_t>(column)] =
        static_cast<std::uint8_t>(value * 255 / options_.max_value + 0.5);
  }
  if (line.empty()) fail(number, "the label is missing");
  const bool good = take_number(line, value);
  if (!line.empty()) fail(number, "has more than " + std::to_string(columns + 1) + " columns");
  if (!good || !(value >= 0 && value < options_.classes) || value != static_cast<int>(value)) {
    fail(number, "expected a label from 0 to " + std::to_string(options_.classes - 1));
  }
  table_.add({static_cast<ClassId>(value)});
  files_.push_back(encode_png(image));
  digests_.push_back(digest_of(image.pixels));
  lines_.push_back(number);
}

Digest CsvDigits::digest(std::size_t i) const {
  table_.check(i);
  return digests_[i];
}

std::vector<std::uint8_t> CsvDigits::encoded(std::size_t i) const {
  table_.check(i);
  return files_[i];
}

std::string CsvDigits::name(std::size_t i) const {
  table_.check(i);
  return file_.string() + ":" + std::to_string(lines_[i]);
}

}  // namespace moil::data
