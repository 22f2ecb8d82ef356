// A table as a dataset: one CSV file, plain or gzip, whose first line names the columns; each other
// line is a record, and one column is its label.
//
// A sample is an NPY file of a record's other columns, in their order; its digest is that of this
// file. Classes are the labels, sorted by name. All samples are held in memory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/readers/sample_table.h"

namespace moil::data {

struct CsvTableOptions {
  std::string label_column;
  SplitPolicy split;
  std::uint64_t max_bytes = 1 << 30;  // of the text
};

class CsvTable : public TableDataset<SampleDataset> {
 public:
  // kInvalidArgument for a label column that is not there, naming those that are. kBadData with
  // file, line and column: a field that is no finite number, a line of another length, no record.
  // kNotFound.
  CsvTable(const std::filesystem::path& file, const CsvTableOptions& options);

  // Of the numbers of a record.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] Digest digest(std::size_t i) const override;
  [[nodiscard]] std::vector<std::uint8_t> encoded(std::size_t i) const override;
  [[nodiscard]] std::string name(std::size_t i) const override;

 private:
  void read_names(std::string_view line, const std::string& label_column);
  std::string read_record(std::string_view line, std::size_t number);  // its label
  [[noreturn]] void fail(std::size_t line, const std::string& what) const;

  std::filesystem::path file_;
  char separator_ = ',';
  std::size_t label_at_ = 0;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::uint8_t>> files_;
  std::vector<std::size_t> lines_;  // where each sample stands
};

}  // namespace moil::data
