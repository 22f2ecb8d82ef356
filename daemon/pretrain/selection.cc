#include "daemon/pretrain/selection.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "datasets/readers/csv_digits.h"
#include "datasets/readers/image_folder.h"

namespace moil::pretrain {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::unique_ptr<data::ImageDataset> open(const std::filesystem::path& path,
                                         const std::string& format, double validation_fraction) {
  const data::SplitPolicy split{validation_fraction, 0};
  const std::string name = path.string();
  const bool csv = format.empty() ? ends_with(name, ".csv") || ends_with(name, ".csv.gz")
                                  : format == "digits-csv";
  if (csv) {
    data::CsvDigitsOptions options;
    options.split = split;
    return std::make_unique<data::CsvDigits>(path, options);
  }
  if (!format.empty() && format != "image-folder") {
    throw Error(ErrorCode::kInvalidArgument,
                "unknown format \"" + format + "\"; known: digits-csv, image-folder");
  }
  data::ImageFolderOptions options;
  options.split = split;
  return data::open_image_folder(path, options);
}

void require_classes(const data::Dataset& dataset, const std::vector<std::string>& classes) {
  for (const auto& name : classes) {
    const auto& known = dataset.classes();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(ErrorCode::kInvalidArgument, "the data has no class \"" + name + "\"");
    }
  }
}

}  // namespace

Selection::Selection(const SelectionOptions& options) {
  const bool apart = !options.validation_data.empty();
  bases_.push_back(open(options.data, options.format, apart ? 0 : options.validation_fraction));
  table_ = data::SampleTable(options.classes.empty() ? bases_[0]->classes() : options.classes);
  require_classes(*bases_[0], table_.classes());  // held-out samples may be of some alone
  take(*bases_[0], options, false);
  if (apart) {
    bases_.push_back(open(options.validation_data, options.format, 0));
    const std::size_t before = places_.size();
    take(*bases_[1], options, true);
    if (places_.size() == before)
      throw Error(ErrorCode::kInvalidArgument, "the held-out data has none of the classes");
  }
}

void Selection::take(const data::ImageDataset& base, const SelectionOptions& options,
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

void export_images(const data::ImageDataset& dataset, const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder) && !std::filesystem::is_empty(folder)) {
    throw Error(ErrorCode::kAlreadyExists, folder.string() + " is not empty");
  }
  std::map<data::ClassId, std::size_t> next;
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const data::ClassId label = dataset.labels(i)[0];
    const auto target = folder / dataset.classes()[label];
    std::filesystem::create_directories(target);
    std::string number = std::to_string(next[label]++);
    number.insert(0, number.size() < 5 ? 5 - number.size() : 0, '0');
    const auto bytes = dataset.encoded(i);
    const bool jpeg = bytes.size() > 2 && bytes[0] == 0xff && bytes[1] == 0xd8;
    write_file_atomic(target / (number + (jpeg ? ".jpg" : ".png")), bytes);
  }
}

}  // namespace moil::pretrain
