// The samples that the cloud phase works with: some classes of one or two datasets.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/samples/sample_table.h"

namespace moil::pretrain {

struct SelectionOptions {
  std::filesystem::path data;             // digits CSV, folder or tar of images
  std::filesystem::path validation_data;  // empty: validation_fraction of `data` is held out
  std::string format;                     // "digits-csv", "image-folder"; empty: by the file's name
  std::string label_column;  // `data` is a table (csv_table.h), and this column says the classes
  std::vector<std::string> ids;      // its columns that are ids (csv_table.h); empty: by name
  std::vector<std::string> classes;  // in this order; empty: all
  std::vector<std::string> known;    // other names that are classes (sample_folder.h)
  bool any_file = false;             // is a sample (sample_folder.h)
  double validation_fraction = 0.2;
  // Samples are held out by class; else over all. Empty: by the labels.
  std::optional<bool> labels_are_classes;
  std::size_t limit_per_class = 0;  // of each split; 0: all
  std::size_t skip_per_class = 0;   // the first so many of each class and split are passed over
};

class Selection : public data::TableDataset<data::SampleDataset> {
 public:
  // Throws what the readers throw; kInvalidArgument for an unknown class or format.
  explicit Selection(const SelectionOptions& options);

  // What the readers passed over and how they took the folders, a line each; empty: nothing to say.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
  // Whether they are a table's numbers of which classes would make little (csv_table.h).
  [[nodiscard]] bool labels_are_amounts() const;
  [[nodiscard]] bool columns_are_ids() const;  // a table's
  // Texts in the data that may say what its classes are called.
  [[nodiscard]] std::vector<std::string> texts() const;
  // Leaves samples out, by index, growing; a class that has none left goes with them. kBadData
  // with `why` of the first if none is left, or none of a class that was named.
  void leave_out(const std::vector<std::size_t>& samples, const std::string& why);
  // Gives classes other names.
  void rename(const std::map<std::string, std::string>& names);

  [[nodiscard]] data::Digest digest(std::size_t i) const override {
    return at(i).base->digest(at(i).index);
  }
  [[nodiscard]] std::vector<std::uint8_t> encoded(std::size_t i) const override {
    return at(i).base->encoded(at(i).index);
  }
  [[nodiscard]] std::string name(std::size_t i) const override {
    return at(i).base->name(at(i).index);
  }

 private:
  struct Place {
    const data::SampleDataset* base;
    std::size_t index;
  };
  const Place& at(std::size_t i) const {
    table_.check(i);
    return places_[i];
  }
  // known: names that are classes.
  std::unique_ptr<data::SampleDataset> open(const std::filesystem::path& path,
                                            const SelectionOptions& options, double held_out,
                                            std::vector<std::string> known);
  void take(const data::SampleDataset& base, const SelectionOptions& options, bool all_validation);

  std::vector<std::unique_ptr<data::SampleDataset>> bases_;
  std::vector<Place> places_;
  bool classes_are_named_ = false;  // by the user
  std::vector<std::string> remarks_;
};

// Writes FOLDER/<class>/<number>.png for every sample, or as its file else ends; with_list: also
// FOLDER/labels.jsonl, which says what each is and on which side (moilctl label import).
// kAlreadyExists if the folder is not empty; kInvalidArgument if a class cannot name a folder.
void export_samples(const data::SampleDataset& dataset, const std::filesystem::path& folder,
                    bool with_list = false);

}  // namespace moil::pretrain
