#include "datasets/tables/csv_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "datasets/labels/csv_line.h"
#include "datasets/labels/media_type.h"
#include "datasets/tables/gzip_text.h"
#include "datasets/tables/ids.h"
#include "datasets/tables/numbers.h"
#include "datasets/tables/record.h"

namespace moil::data {

CsvTable::CsvTable(const std::filesystem::path& file, const CsvTableOptions& options)
    : file_(file) {
  const std::string text = read_gzip_text(file, options.max_bytes);
  if (is_utf16(text)) fail(1, media_refusal(kUtf16));
  std::string_view records = without_mark(text), line;
  if (!next_line(records, line)) fail(1, "the file is empty");
  read_names(line, options.label_column);
  find_ids(options.ids);
  std::vector<std::string> labels;
  for_each_record(records, [&](auto& fields, std::size_t number) {
    look_at(fields, number);
    labels.push_back(fields[label_at_]);
  });
  if (labels.empty()) fail(1, "no record follows the columns' names");
  choose_columns();
  for_each_record(records, [&](auto& fields, std::size_t number) { add_sample(fields, number); });
  std::map<std::string, ClassId> ids;
  for (const std::string& label : labels) ids[label] = 0;
  table_ = SampleTable(number_classes(ids));
  for (const std::string& label : labels) table_.add({ids.at(label)});
  SplitPolicy split = options.split;
  if (!options.amounts_are_classes && labels_are_amounts()) split.by_class = false;
  table_.apply(split);
  if (split.by_class) tell_of_twins();
}

void CsvTable::fail(std::size_t line, const std::string& what) const {
  throw Error(ErrorCode::kBadData, file_.string() + ":" + std::to_string(line) + ": " + what);
}

void CsvTable::read_names(std::string_view line, const std::string& label_column) {
  separator_ = separator_of(line);
  const std::vector<std::string> names = fields_of(line, separator_);
  const auto found = std::ranges::find(names, label_column);
  if (found == names.end()) {
    std::string known;
    for (const std::string& column : names) known += (known.empty() ? "" : ", ") + column;
    throw Error(ErrorCode::kInvalidArgument, file_.string() + " has no column \"" + label_column +
                                                 "\"; its columns are " + known.substr(0, 400));
  }
  if (names.size() < 2) fail(1, "there is no column beside the label's");
  label_at_ = static_cast<std::size_t>(found - names.begin());
  for (const std::string& name : names) all_.push_back({name, false, 0, 0, 0, {}, 0});
}

void CsvTable::find_ids(std::vector<std::string> wanted) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < all_.size(); ++c)
    if (c != label_at_ && !is_nameless(all_[c].name)) names.push_back(all_[c].name);
  for (const std::string& name : wanted)
    if (std::ranges::find(names, name) == names.end())
      throw Error(ErrorCode::kInvalidArgument,
                  file_.string() + " has no column \"" + name + "\" to be ids");
  if (wanted.empty() && are_names_of_ids(names)) wanted = std::move(names);
  for (Column& column : all_) column.is_id = std::ranges::find(wanted, column.name) != wanted.end();
  are_ids_ = !wanted.empty();
}

bool CsvTable::labels_are_amounts() const {
  bool are_whole = true;
  for (const std::string& label : classes()) {
    double value = 0;
    if (!to_number(label, value)) return false;
    are_whole = are_whole && value == std::floor(value);
  }
  return !are_whole || classes().size() > kMostNumberedClasses;
}

template <class F>
void CsvTable::for_each_record(std::string_view records, const F& f) const {
  std::string_view line;
  for (std::size_t number = 2; next_line(records, line); ++number) {
    if (line.empty()) continue;
    const std::vector<std::string> fields = fields_of(line, separator_);
    if (fields.size() != all_.size())
      fail(number, "has " + std::to_string(fields.size()) + " fields, the first line names " +
                       std::to_string(all_.size()));
    f(fields, number);
  }
}

void CsvTable::look_at(const std::vector<std::string>& fields, std::size_t number) {
  if (fields[label_at_].empty()) fail(number, "the label is missing");
  for (std::size_t c = 0; c < fields.size(); ++c) {
    Column& column = all_[c];
    double value = 0;
    if (is_missing(fields[c])) {
      ++column.missing;
    } else if (to_number(fields[c], value)) {
      ++column.numbers;
      const bool is_number = c != label_at_ && !is_nameless(column.name) && !column.is_id;
      if (is_number && !std::isfinite(static_cast<float>(value)))
        fail(number, "column \"" + column.name + "\" is '" + fields[c].substr(0, 40) +
                         "', expected a finite number");
    } else if (column.texts++ == 0) {
      column.first_text = fields[c].substr(0, 40);
      column.text_line = number;
    }
  }
}

void CsvTable::choose_columns() {
  for (std::size_t c = 0; c < all_.size(); ++c) {
    const Column& column = all_[c];
    if (c == label_at_) continue;
    if (is_nameless(column.name)) {
      remarks_.push_back(file_.string() + ": column " + std::to_string(c + 1) +
                         " has no name and is left out; pandas writes its index so");
    } else if (column.numbers + column.texts == 0) {
      remarks_.push_back(file_.string() + ": column \"" + column.name +
                         "\" has no value in any record and is left out");
    } else if (are_ids_ && !column.is_id) {
      remarks_.push_back(file_.string() + ": column \"" + column.name +
                         "\" is left out; columns of ids are taken alone");
    } else if (!column.is_id && column.texts > 0 && column.texts < column.numbers) {
      fail(column.text_line, "column \"" + column.name + "\" is '" + column.first_text +
                                 "', expected a finite number, or nothing, as the others have");
    } else {
      columns_.push_back(column.name);
      places_.push_back(c);
      are_numbers_ = are_numbers_ && !are_ids_ && column.texts == 0 && column.missing == 0;
    }
  }
  if (columns_.empty()) fail(1, "there is no column beside the label's that holds anything");
  if (!are_numbers_ && !are_names(columns_))
    fail(1,
         "the columns have numbers for names, which no sample of text or gaps can carry; give "
         "them names");
  for (auto one = columns_.begin(); !are_numbers_ && one != columns_.end(); ++one)
    if (std::find(one + 1, columns_.end(), *one) != columns_.end())
      fail(1, "two columns are called \"" + *one + "\"");
}

void CsvTable::add_sample(const std::vector<std::string>& fields, std::size_t number) {
  lines_.push_back(number);
  std::vector<float> values;
  std::vector<std::string> own;
  for (const std::size_t place : places_) {
    double value = 0;
    if (are_numbers_ && to_number(fields[place], value))
      values.push_back(static_cast<float>(value));
    else
      own.push_back(fields[place]);
  }
  if (are_numbers_) return files_.push_back(encode_npy(values));
  const std::string text = csv_line_of(columns_) + csv_line_of(own);
  files_.emplace_back(text.begin(), text.end());
}

// The same record under several labels can be right under one alone.
void CsvTable::tell_of_twins() {
  struct Twins {
    std::size_t first = 0, other = 0, count = 0;  // samples; other: of another label, or first
  };
  std::unordered_map<Digest, Twins> by_content;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    Twins& twins = by_content.try_emplace(digest(i), Twins{i, i, 0}).first->second;
    ++twins.count;
    if (table_.labels(i)[0] != table_.labels(twins.first)[0]) twins.other = i;
  }
  std::size_t records = 0;
  const Twins* example = nullptr;
  for (const auto& [content, twins] : by_content) {
    if (twins.other == twins.first) continue;
    records += twins.count;
    if (example == nullptr || twins.first < example->first) example = &twins;
  }
  if (example == nullptr) return;
  const auto place = [&](std::size_t i) {
    return "line " + std::to_string(lines_[i]) + " (" + classes()[table_.labels(i)[0]] + ")";
  };
  remarks_.push_back(file_.string() + ": " + std::to_string(records) + " of " +
                     std::to_string(files_.size()) +
                     " records stand under several labels, which no model can tell apart: " +
                     place(example->first) + " is " + place(example->other));
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
