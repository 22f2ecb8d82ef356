#include "datasets/tables/ids.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "datasets/labels/csv_line.h"
#include "datasets/labels/text.h"
#include "datasets/samples/dataset.h"

namespace moil::data {
namespace {

// The name stands before an id, so that it has no '=' itself.
bool is_of(std::string_view id, const RowColumn& column) {
  return id.size() > column.name.size() + 1 && id.starts_with(column.name) &&
         id[column.name.size()] == '=';
}

[[noreturn]] void fail_of_ids(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "rows: 'ids' " + what);
}

bool is_name_of_ids(std::string_view name) {
  if (name.ends_with("Id") || name.ends_with("ID")) return true;
  std::string low(name);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low == "id" || low.ends_with("_id") || low == "user" || low == "item";
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

IdList::IdList(std::vector<std::string> ids, const std::vector<RowColumn>& columns)
    : ids_(std::move(ids)) {
  if (ids_.size() > kMostIds)
    fail_of_ids("has " + std::to_string(ids_.size()) + " entries, expected at most " +
                std::to_string(kMostIds));
  rows_.reserve(ids_.size());
  std::int32_t row = 0;
  for (const std::string& id : ids_) {
    if (std::ranges::none_of(columns, [&](const RowColumn& c) { return is_of(id, c); }))
      fail_of_ids("has \"" + id.substr(0, 80) + "\", expected a column's name, '=' and an id");
    if (!rows_.emplace(id, ++row).second) fail_of_ids("has \"" + id.substr(0, 80) + "\" twice");
  }
}

std::int64_t IdList::row(std::string_view id) const {
  const auto found = rows_.find(id);
  return found == rows_.end() ? 0 : found->second;
}

std::vector<std::string> read_ids(std::span<const std::uint8_t> bytes, std::string_view name,
                                  const std::vector<RowColumn>& columns) {
  std::vector<std::string> ids = read_fields(bytes, name, columns);
  for (std::size_t c = 0; c < ids.size(); ++c) {
    if (const std::string_view unfit = unfit_characters(ids[c]); !unfit.empty())
      throw Error(ErrorCode::kBadData, std::string(name) + ": column \"" + columns[c].name +
                                           "\" is '" + shown(ids[c]).substr(0, 80) + "', which " +
                                           std::string(unfit));
    ids[c] = is_missing(ids[c]) ? std::string() : columns[c].name + '=' + normal(ids[c]);
  }
  return ids;
}

bool are_names_of_ids(const std::vector<std::string>& columns) {
  return !columns.empty() && std::ranges::all_of(columns, is_name_of_ids);
}

std::vector<RowColumn> id_columns_of(const SampleDataset& dataset,
                                     const std::vector<std::string>& wanted) {
  const std::vector<std::string> names = names_in_record(dataset.encoded(0));
  if (wanted.empty() && !are_names_of_ids(names)) return {};
  for (const std::string& id : wanted)
    if (!has(names, id))
      throw Error(ErrorCode::kBadData,
                  dataset.name(0) + ": it has no column \"" + id + "\", which is to be ids");
  std::vector<RowColumn> columns;
  for (const std::string& name : names) {
    if (!wanted.empty() && !has(wanted, name))
      throw Error(ErrorCode::kBadData, dataset.name(0) + ": column \"" + name +
                                           "\" stands beside columns of ids, which a network "
                                           "takes alone; take it out");
    columns.push_back({name, false, {}});
  }
  return columns;
}

std::vector<std::string> ids_of(const SampleDataset& dataset, std::span<const std::size_t> samples,
                                const std::vector<RowColumn>& columns) {
  std::vector<std::set<std::string>> seen(columns.size());
  for (const std::size_t i : samples) {
    std::vector<std::string> ids = read_ids(dataset.encoded(i), dataset.name(i), columns);
    for (std::size_t c = 0; c < ids.size(); ++c)
      if (!ids[c].empty()) seen[c].insert(std::move(ids[c]));
  }
  std::vector<std::string> all;
  for (const auto& of_column : seen) all.insert(all.end(), of_column.begin(), of_column.end());
  return all;
}

}  // namespace moil::data
