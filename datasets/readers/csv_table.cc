#include "datasets/readers/csv_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "datasets/kinds/rows/numbers.h"
#include "datasets/labels/csv_line.h"
#include "datasets/readers/gzip_text.h"

namespace moil::data {

CsvTable::CsvTable(const std::filesystem::path& file, const CsvTableOptions& options)
    : file_(file) {
  const std::string text = read_gzip_text(file, options.max_bytes);
  std::string_view rest = without_mark(text), line;
  if (!next_line(rest, line)) fail(1, "the file is empty");
  read_names(line, options.label_column);
  std::vector<std::string> labels;
  for (std::size_t number = 2; next_line(rest, line); ++number)
    if (!line.empty()) labels.push_back(read_record(line, number));
  if (labels.empty()) fail(1, "no record follows the columns' names");
  std::map<std::string, ClassId> ids;
  for (const std::string& label : labels) ids[label] = 0;
  table_ = SampleTable(number_classes(ids));
  for (const std::string& label : labels) table_.add({ids.at(label)});
  table_.apply(options.split);
}

void CsvTable::fail(std::size_t line, const std::string& what) const {
  throw Error(ErrorCode::kBadData, file_.string() + ":" + std::to_string(line) + ": " + what);
}

void CsvTable::read_names(std::string_view line, const std::string& label_column) {
  separator_ = separator_of(line);
  columns_ = fields_of(line, separator_);
  const auto found = std::ranges::find(columns_, label_column);
  if (found == columns_.end()) {
    std::string known;
    for (const std::string& column : columns_) known += (known.empty() ? "" : ", ") + column;
    throw Error(ErrorCode::kInvalidArgument, file_.string() + " has no column \"" + label_column +
                                                 "\"; its columns are " + known.substr(0, 400));
  }
  if (columns_.size() < 2) fail(1, "there is no column beside the label's");
  label_at_ = static_cast<std::size_t>(found - columns_.begin());
  columns_.erase(found);
}

std::string CsvTable::read_record(std::string_view line, std::size_t number) {
  std::vector<std::string> fields = fields_of(line, separator_);
  if (fields.size() != columns_.size() + 1)
    fail(number, "has " + std::to_string(fields.size()) + " fields, the first line names " +
                     std::to_string(columns_.size() + 1));
  std::string label = std::move(fields[label_at_]);
  fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(label_at_));
  if (label.empty()) fail(number, "the label is missing");
  std::vector<float> values;
  for (std::size_t c = 0; c < fields.size(); ++c) {
    double value = 0;
    if (!to_number(fields[c], value) || !std::isfinite(static_cast<float>(value)))
      fail(number, "column \"" + columns_[c] + "\" is '" + fields[c].substr(0, 40) +
                       "', expected a finite number");
    values.push_back(static_cast<float>(value));
  }
  files_.push_back(encode_npy(values));
  lines_.push_back(number);
  return label;
}

Digest CsvTable::digest(std::size_t i) const {
  table_.check(i);
  return digest_of(files_[i]);
}

std::vector<std::uint8_t> CsvTable::encoded(std::size_t i) const {
  table_.check(i);
  return files_[i];
}

std::string CsvTable::name(std::size_t i) const {
  table_.check(i);
  return file_.string() + ":" + std::to_string(lines_[i]);
}

}  // namespace moil::data
