// A dataset whose class names are lists of labels ("red+round"), as a dataset of these labels: how
// samples with several labels lie in class folders, tables and packs.
#pragma once

#include <string>
#include <vector>

#include "datasets/samples/sample_table.h"

namespace moil::data {

inline constexpr char kLabelSeparator = '+';

// "red+round" -> {"red", "round"}, each once. kInvalidArgument, naming the text, for an empty part.
[[nodiscard]] std::vector<std::string> split_label(const std::string& text, char separator);

// The samples' labels and splits with each class taken apart; labels are in the order in which the
// classes name them.
[[nodiscard]] SampleTable split_table(const Dataset& dataset, char separator);

class SplitLabels : public TableDataset<SampleDataset> {
 public:
  // The base outlives this.
  SplitLabels(const SampleDataset& base, char separator) : base_(base) {
    table_ = split_table(base, separator);
  }

  [[nodiscard]] Digest digest(std::size_t i) const override { return base_.digest(i); }
  [[nodiscard]] std::vector<std::uint8_t> encoded(std::size_t i) const override {
    return base_.encoded(i);
  }
  [[nodiscard]] EncodedHead head(std::size_t i, std::size_t most) const override {
    return base_.head(i, most);
  }
  [[nodiscard]] std::string name(std::size_t i) const override { return base_.name(i); }

 private:
  const SampleDataset& base_;
};

}  // namespace moil::data
