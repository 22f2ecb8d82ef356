#include <cmath>
#include <cstdio>
#include <string>

#include "datasets/kinds/rows/rows_kind.h"
#include "datasets/labels/csv_line.h"
#include "datasets/tables/csv_digits.h"
#include "datasets/tables/csv_table.h"
#include "datasets/tables/gzip_text.h"
#include "datasets/tables/numbers.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/text.h"
#include "tests/fuzz/trials.h"

namespace moil::test {
namespace {

using namespace data;

constexpr std::string_view kMagic = "\x93NUMPY";

void check_numbers(const Numbers& numbers) {
  std::size_t count = 1;
  for (const std::int64_t extent : numbers.shape) count *= static_cast<std::size_t>(extent);
  require(count == numbers.values.size() && count > 0, "numbers have their shape's size");
  for (const double value : numbers.values) require(std::isfinite(value), "numbers are finite");
}

std::string as_csv(const Numbers& numbers) {
  const auto columns = static_cast<std::size_t>(numbers.shape.at(1));
  std::string text;
  char number[32];
  for (std::size_t i = 0; i < numbers.values.size(); ++i) {
    std::snprintf(number, sizeof number, "%.17g", numbers.values[i]);
    text += number;
    text += (i + 1) % columns == 0 ? '\n' : ',';
  }
  return text;
}

// As one sample of a network of two columns, in windows of three lines.
void check_sample(std::span<const std::uint8_t> bytes) {
  static const KindPtr kind =
      rows_kind({.dims = {3, 2}, .mean = {0, 0}, .stddev = {1, 1}, .hop = 1});
  accepts([&] {
    const std::uint32_t parts = kind->parts(bytes, "sample");
    require(parts > 0, "a sample has parts");
    const auto maker = kind->maker({});
    maker->load(bytes, "sample");
    std::vector<float> values(kind->floats());
    for (std::uint32_t part = 0; part < parts; ++part) {
      maker->make(digest_of(bytes), {0, part}, values.data());
      for (const float value : values) require(!std::isnan(value), "a network is fed numbers");
    }
  });
}

// Every sample of a table is a file of as many numbers; its last column is the label.
bool check_table(std::span<const std::uint8_t> bytes) {
  const MemoryFile file(bytes);
  return accepts([&] {
    const std::string text = read_gzip_text(file.path(), 1 << 20);
    std::string_view rest = text, line;
    const bool has_line = next_line(rest, line);
    const std::string label = has_line ? fields_of(line, separator_of(line)).back() : "";
    const CsvTable table(file.path(), {label, {0.3, 1}, 1 << 20});
    const std::vector<RowColumn> columns = columns_of(table);
    for (std::size_t i = 0; i < table.size(); ++i) {
      require(table.labels(i).size() == 1 && table.labels(i)[0] < table.classes().size(),
              "a record has a label");
      const auto bytes_of_record = table.encoded(i);
      const std::string name = table.name(i);
      if (columns.empty())
        require(read_numbers(bytes_of_record, name).values.size() == table.columns().size(),
                "a record has its columns");
      else
        require(read_record(bytes_of_record, name, columns).size() == places_of(columns),
                "a record has its columns' places");
    }
  });
}

void check_digits(std::span<const std::uint8_t> bytes) {
  const MemoryFile file(bytes);
  accepts([&] {
    const CsvDigits digits(file.path(), {2, 2, 16, 3, {}, 1 << 20});
    for (std::size_t i = 0; i < digits.size(); ++i)
      require(digits.labels(i)[0] < 3 && !digits.encoded(i).empty(), "a digit is one");
  });
}

}  // namespace

bool try_csv(std::span<const std::uint8_t> bytes) {
  if (text_of(bytes).starts_with(kMagic)) return false;
  check_sample(bytes);
  const bool is_table = check_table(bytes);
  check_digits(bytes);
  const bool is_numbers = accepts([&] {
    const Numbers numbers = read_numbers(bytes, "file");
    check_numbers(numbers);
    require(numbers.shape.size() == 2, "text has lines and columns");
    const std::string written = as_csv(numbers);
    const Numbers again = read_numbers(bytes_of(written), "copy");
    require(again.shape == numbers.shape && again.values == numbers.values,
            "numbers survive writing");
  });
  return is_table || is_numbers;
}

bool try_npy(std::span<const std::uint8_t> bytes) {
  if (!text_of(bytes).starts_with(kMagic)) return false;
  check_sample(bytes);
  return accepts([&] {
    const Numbers numbers = read_numbers(bytes, "file");
    check_numbers(numbers);
    std::vector<float> values;
    for (const double value : numbers.values) {
      values.push_back(static_cast<float>(value));
      if (!std::isfinite(values.back())) return;  // too large for a float
    }
    const Numbers again = read_numbers(encode_npy(values), "copy");
    require(again.shape == std::vector{static_cast<std::int64_t>(values.size())} &&
                std::equal(values.begin(), values.end(), again.values.begin(), again.values.end()),
            "numbers survive writing");
  });
}

}  // namespace moil::test
