// Some classes of a dataset, as a dataset of its own: the cloud phase trains on the digits 0 to 6
// and leaves 7 to 9 to the device.
#pragma once

#include <string>
#include <vector>

#include "datasets/samples/sample_table.h"

namespace moil::data {

class ClassSubset : public TableDataset<SampleDataset> {
 public:
  // The samples that carry one of the named classes, or are said not to (Dataset::denied), in
  // order; their other labels are dropped. The classes keep the order given; what is only denied is
  // none. kInvalidArgument if the base knows neither; the base outlives the subset.
  ClassSubset(const SampleDataset& base, const std::vector<std::string>& classes);

  [[nodiscard]] Digest digest(std::size_t i) const override { return base_.digest(at(i)); }
  [[nodiscard]] std::int64_t scene(std::size_t i) const override { return base_.scene(at(i)); }
  [[nodiscard]] std::vector<std::uint8_t> encoded(std::size_t i) const override {
    return base_.encoded(at(i));
  }
  [[nodiscard]] EncodedHead head(std::size_t i, std::size_t most) const override {
    return base_.head(at(i), most);
  }
  [[nodiscard]] std::string name(std::size_t i) const override { return base_.name(at(i)); }

 private:
  [[nodiscard]] std::size_t at(std::size_t i) const {
    table_.check(i);
    return indices_[i];
  }

  const SampleDataset& base_;
  std::vector<std::size_t> indices_;
};

}  // namespace moil::data
