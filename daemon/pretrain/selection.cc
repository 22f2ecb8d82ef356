#include "daemon/pretrain/selection.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "datasets/labels/media_type.h"
#include "datasets/readers/class_folders.h"
#include "datasets/readers/sample_folder.h"
#include "datasets/tables/csv_digits.h"
#include "datasets/tables/csv_table.h"

namespace moil::pretrain {
namespace {

std::vector<std::string> remarks_of(const data::SampleFolder& folder,
                                    const std::filesystem::path& path) {
  std::vector<std::string> remarks;
  if (!folder.entered().empty()) {
    remarks.push_back(path.string() + ": all images lie in " + folder.entered() +
                      "/, so the folders in it are the classes");
  }
  if (const auto& within = folder.within_lone_class(); within.size() > 1) {
    const std::string name = folder.classes().front();
    remarks.push_back(
        path.string() + ": all samples lie in " + name +
        "/, which is taken for one class; if the " + std::to_string(within.size()) +
        " folders in it (" + *within.begin() + ", " + *std::next(within.begin()) +
        (within.size() > 2 ? ", ...) are the classes, give " : ") are the classes, give ") + name +
        " itself, or name them with --classes");
  }
  const std::string passed_over = folder.passed_over().said();
  if (!passed_over.empty()) remarks.push_back(path.string() + ": passed over " + passed_over);
  return remarks;
}

void require_classes(const data::Dataset& dataset, const std::vector<std::string>& classes) {
  for (const auto& name : classes) {
    const auto& known = dataset.classes();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(ErrorCode::kInvalidArgument, "the data has no class \"" + name + "\"");
    }
  }
}

// Lists of tags and numbers need not be the same on both sides.
std::vector<std::string> joined(std::vector<std::string> names,
                                const std::vector<std::string>& more) {
  for (const std::string& name : more)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

}  // namespace

Selection::Selection(const SelectionOptions& options) {
  const bool apart = !options.validation_data.empty();
  std::vector<std::string> known = joined(options.classes, options.known);
  bases_.push_back(open(options.data, options, apart ? 0 : options.validation_fraction, known));
  known = joined(std::move(known), bases_[0]->classes());
  if (apart) bases_.push_back(open(options.validation_data, options, 0, std::move(known)));
  std::vector<std::string> classes = options.classes;
  if (classes.empty()) {
    classes = bases_[0]->classes();
    if (apart && !options.labels_are_classes.value_or(!labels_are_amounts()))
      classes = joined(classes, bases_[1]->classes());
  } else {
    require_classes(*bases_[0], classes);  // held-out samples may be of some alone
  }
  table_ = data::SampleTable(classes);
  classes_are_named_ = !options.classes.empty();
  take(*bases_[0], options, false);
  if (apart) {
    const std::size_t before = places_.size();
    take(*bases_[1], options, true);
    if (places_.size() == before)
      throw Error(ErrorCode::kInvalidArgument, "the held-out data has none of the classes");
  }
}

std::unique_ptr<data::SampleDataset> Selection::open(const std::filesystem::path& path,
                                                     const SelectionOptions& options,
                                                     double held_out,
                                                     std::vector<std::string> known) {
  const data::SplitPolicy split{held_out, 0, options.labels_are_classes.value_or(true)};
  const std::string name = path.string();
  if (!options.label_column.empty()) {
    if (!options.format.empty())
      throw Error(ErrorCode::kInvalidArgument,
                  "a table's label column is named, so it is no " + options.format);
    auto table = std::make_unique<data::CsvTable>(
        path,
        data::CsvTableOptions{.label_column = options.label_column,
                              .split = split,
                              .amounts_are_classes = options.labels_are_classes.value_or(false),
                              .ids = options.ids});
    remarks_.insert(remarks_.end(), table->remarks().begin(), table->remarks().end());
    return table;
  }
  const bool csv = options.format.empty() ? name.ends_with(".csv") || name.ends_with(".csv.gz")
                                          : options.format == "digits-csv";
  if (csv) {
    data::CsvDigitsOptions digits;
    digits.split = split;
    return std::make_unique<data::CsvDigits>(path, digits);
  }
  if (!options.format.empty() && options.format != "image-folder") {
    throw Error(ErrorCode::kInvalidArgument,
                "unknown format \"" + options.format + "\"; known: digits-csv, image-folder");
  }
  data::SampleFolderOptions folder;
  folder.split = split;
  folder.known = std::move(known);
  folder.any_file = options.any_file;
  auto opened = data::open_sample_folder(path, folder);
  for (std::string& remark : remarks_of(*opened, path)) remarks_.push_back(std::move(remark));
  return opened;
}

bool Selection::labels_are_amounts() const {
  const auto* table = dynamic_cast<const data::CsvTable*>(bases_[0].get());
  return table != nullptr && table->labels_are_amounts();
}

bool Selection::columns_are_ids() const {
  const auto* table = dynamic_cast<const data::CsvTable*>(bases_[0].get());
  return table != nullptr && table->columns_are_ids();
}

std::vector<std::string> Selection::texts() const {
  const auto* folder = dynamic_cast<const data::SampleFolder*>(bases_[0].get());
  return folder != nullptr ? folder->texts() : std::vector<std::string>();
}

void Selection::leave_out(const std::vector<std::size_t>& samples, const std::string& why) {
  const auto is_left_out = [&](std::size_t i) { return std::ranges::binary_search(samples, i); };
  std::vector<bool> has_samples(table_.classes().size());
  for (std::size_t i = 0; i < table_.size(); ++i)
    if (!is_left_out(i)) has_samples[table_.labels(i)[0]] = true;
  std::vector<std::string> classes;
  std::vector<data::ClassId> row_of;
  for (std::size_t c = 0; c < has_samples.size(); ++c) {
    row_of.push_back(static_cast<data::ClassId>(classes.size()));
    if (has_samples[c]) classes.push_back(table_.classes()[c]);
    if (!has_samples[c] && classes_are_named_)
      throw Error(ErrorCode::kBadData,
                  "none of the samples of \"" + table_.classes()[c] + "\" can be read; " + why);
  }
  if (classes.empty()) throw Error(ErrorCode::kBadData, "none of the samples can be read; " + why);
  data::SampleTable kept(classes);
  std::vector<Place> places;
  for (std::size_t i = 0; i < table_.size(); ++i) {
    if (is_left_out(i)) continue;
    kept.add({row_of[table_.labels(i)[0]]}, table_.split(i));
    places.push_back(places_[i]);
  }
  table_ = std::move(kept);
  places_ = std::move(places);
}

void Selection::rename(const std::map<std::string, std::string>& names) {
  std::vector<std::string> classes;
  std::vector<data::ClassId> row_of;
  for (const std::string& old : table_.classes()) {
    const auto named = names.find(old);
    const std::string& name = named == names.end() ? old : named->second;
    const auto found = std::find(classes.begin(), classes.end(), name);
    row_of.push_back(static_cast<data::ClassId>(found - classes.begin()));
    if (found == classes.end()) classes.push_back(name);
  }
  data::SampleTable renamed(classes);
  for (std::size_t i = 0; i < table_.size(); ++i)
    renamed.add({row_of[table_.labels(i)[0]]}, table_.split(i));
  table_ = std::move(renamed);
}

void Selection::take(const data::SampleDataset& base, const SelectionOptions& options,
                     bool all_validation) {
  const auto& classes = table_.classes();
  std::map<std::pair<data::ClassId, data::Split>, std::size_t> seen;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const auto found = std::find(classes.begin(), classes.end(), base.classes()[base.labels(i)[0]]);
    if (found == classes.end()) continue;
    const auto label = static_cast<data::ClassId>(found - classes.begin());
    const data::Split split = all_validation ? data::Split::kValidation : base.split(i);
    const std::size_t nth = seen[{label, split}]++;
    if (nth < options.skip_per_class) continue;
    if (options.limit_per_class > 0 && nth >= options.skip_per_class + options.limit_per_class)
      continue;
    table_.add({label}, split);
    places_.push_back({&base, i});
  }
}

void export_samples(const data::SampleDataset& dataset, const std::filesystem::path& folder,
                    bool with_list) {
  if (std::filesystem::exists(folder) && !std::filesystem::is_empty(folder)) {
    throw Error(ErrorCode::kAlreadyExists, folder.string() + " is not empty");
  }
  for (const std::string& name : dataset.classes()) {
    if (!data::can_name_folder(name))
      throw Error(ErrorCode::kInvalidArgument, "the class '" + name + "' cannot name a folder");
  }
  std::map<data::ClassId, std::size_t> next;
  std::string list;
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const data::ClassId label = dataset.labels(i)[0];
    const std::string& name = dataset.classes()[label];
    std::filesystem::create_directories(folder / name);
    std::string number = std::to_string(next[label]++);
    number.insert(0, number.size() < 5 ? 5 - number.size() : 0, '0');
    const auto bytes = dataset.encoded(i);
    number += data::media_ending(data::media_type_of(bytes));
    write_file_atomic(folder / name / number, bytes);
    const nlohmann::json line = {{"file", name + "/" + number},
                                 {"labels", nlohmann::json::array({name})},
                                 {"split", to_string(dataset.split(i))}};
    list += line.dump() + "\n";
  }
  if (with_list) write_file_atomic(folder / "labels.jsonl", list);
}

}  // namespace moil::pretrain
