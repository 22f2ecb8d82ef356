// Small grey images as lines of a CSV, plain or gzip: width * height values from 0 to max_value,
// row by row, then the class as a whole number. The UCI handwritten digits are 8x8 with 0 to 16.
//
// Values are scaled to 0..255 (rounded). A sample's digest is that of its pixel bytes after that;
// all samples are held in memory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/samples/sample_table.h"

namespace moil::data {

struct CsvDigitsOptions {
  int width = 8;
  int height = 8;
  int max_value = 16;
  int classes = 10;  // named "0", "1", ...
  SplitPolicy split;
  std::uint64_t max_bytes = 1 << 30;  // of the text, against archive bombs
};

class CsvDigits : public TableDataset<SampleDataset> {
 public:
  // kBadData with file and line; kNotFound.
  CsvDigits(const std::filesystem::path& file, const CsvDigitsOptions& options = {});

  [[nodiscard]] Digest digest(std::size_t i) const override;
  [[nodiscard]] std::vector<std::uint8_t> encoded(std::size_t i) const override;  // PNG
  [[nodiscard]] std::string name(std::size_t i) const override;

 private:
  void parse_line(std::string_view line, std::size_t number);
  [[noreturn]] void fail(std::size_t line, const std::string& what) const;

  std::filesystem::path file_;
  CsvDigitsOptions options_;
  std::vector<std::vector<std::uint8_t>> files_;  // PNG
  std::vector<Digest> digests_;
  std::vector<std::size_t> lines_;  // where each sample stands
};

}  // namespace moil::data
