// A table as a dataset: one CSV file, plain or gzip, whose first line names the columns; each other
// line is a record, and one column is its label.
//
// A sample is a file of a record's other columns, in their order; its digest is that of this file.
// If all of them are numbers it is NPY; if some lack values or are text, CSV of a line of
// names and the record (record.h). Classes are the labels, sorted by name. All samples
// are held in memory.
//
// A column without a name, as pandas writes for its index, and one without any value are left out.
// If columns are ids (ids.h), the others are left out, and samples are CSV.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/samples/sample_table.h"

namespace moil::data {

struct CsvTableOptions {
  std::string label_column;
  SplitPolicy split;
  std::uint64_t max_bytes = 1 << 30;  // of the text
  // Else they are held out over all, if labels_are_amounts().
  bool amounts_are_classes = true;
  std::vector<std::string> ids = {};  // columns; empty: all, if all their names say so
};

// Grades from 0 to 20 are still classes.
inline constexpr std::size_t kMostNumberedClasses = 21;

class CsvTable : public TableDataset<SampleDataset> {
 public:
  // kInvalidArgument for a label column that is not there, naming those that are. kBadData with
  // file, line and column: text among numbers, a number that is not finite, a line of another
  // length, no record. kNotFound.
  CsvTable(const std::filesystem::path& file, const CsvTableOptions& options);

  // Whether the labels are numbers of which classes would make little: fractions, or more than
  // kMostNumberedClasses.
  [[nodiscard]] bool labels_are_amounts() const;
  // That samples are of.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] bool columns_are_ids() const { return are_ids_; }
  // What was left out, and records that stand under several labels; a line each.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
  [[nodiscard]] Digest digest(std::size_t i) const override;
  [[nodiscard]] std::vector<std::uint8_t> encoded(std::size_t i) const override;
  [[nodiscard]] std::string name(std::size_t i) const override;

 private:
  // What a column of the file holds.
  struct Column {
    std::string name;
    bool is_id = false;
    std::size_t numbers = 0, texts = 0, missing = 0;
    std::string first_text;
    std::size_t text_line = 0;
  };

  void read_names(std::string_view line, const std::string& label_column);
  // Calls f(fields, line number) for each record.
  template <class F>
  void for_each_record(std::string_view records, const F& f) const;
  void look_at(const std::vector<std::string>& fields, std::size_t number);
  void find_ids(std::vector<std::string> wanted);
  void choose_columns();
  void add_sample(const std::vector<std::string>& fields, std::size_t number);
  void tell_of_twins();
  [[noreturn]] void fail(std::size_t line, const std::string& what) const;

  std::filesystem::path file_;
  char separator_ = ',';
  std::size_t label_at_ = 0;
  std::vector<Column> all_;
  std::vector<std::size_t> places_;  // in a line, of `columns_`
  bool are_numbers_ = true, are_ids_ = false;
  std::vector<std::string> columns_, remarks_;
  std::vector<std::vector<std::uint8_t>> files_;
  std::vector<std::size_t> lines_;  // where each sample stands
};

}  // namespace moil::data
