// What every reader keeps of its samples: class names, labels, splits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "datasets/samples/dataset.h"

namespace moil::data {

// How a reader whose source knows no splits sets them (split.h); 0 gives training samples only, 1
// held-out samples only.
struct SplitPolicy {
  double validation_fraction = 0;
  std::uint64_t seed = 0;
  bool by_class = true;  // stratified; else over all, if a label is no class: a number
};

// The names in `ids` as classes, sorted, each with its number noted.
[[nodiscard]] std::vector<std::string> number_classes(std::map<std::string, ClassId>& ids);

class SampleTable {
 public:
  SampleTable() = default;
  explicit SampleTable(std::vector<std::string> classes, std::vector<std::string> denials = {})
      : classes_(std::move(classes)), denials_(std::move(denials)) {}

  // Both are sorted here; kBadData if there is neither, a double, or one that has no name.
  void add(std::vector<ClassId> labels, Split split = Split::kTrain,
           std::vector<ClassId> denied = {});
  void apply(const SplitPolicy& policy);  // single-label tables only

  [[nodiscard]] std::size_t size() const { return splits_.size(); }
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_; }
  [[nodiscard]] std::span<const ClassId> labels(std::size_t i) const;
  [[nodiscard]] const std::vector<std::string>& denials() const { return denials_; }
  [[nodiscard]] std::span<const ClassId> denied(std::size_t i) const;
  [[nodiscard]] Split split(std::size_t i) const;
  void check(std::size_t i) const;  // kInvalidArgument unless i < size()

 private:
  std::vector<std::string> classes_, denials_;
  std::map<std::size_t, std::vector<ClassId>> denied_;  // by sample; of few
  std::vector<ClassId> labels_;                         // of all samples, one after another
  std::vector<std::size_t> ends_;                       // where each sample's labels end
  std::vector<Split> splits_;
};

// The common part of the readers: a Dataset of the given kind whose table is a SampleTable.
template <typename Kind>
class TableDataset : public Kind {
 public:
  [[nodiscard]] std::size_t size() const override { return table_.size(); }
  [[nodiscard]] const std::vector<std::string>& classes() const override {
    return table_.classes();
  }
  [[nodiscard]] std::span<const ClassId> labels(std::size_t i) const override {
    return table_.labels(i);
  }
  [[nodiscard]] const std::vector<std::string>& denials() const override {
    return table_.denials();
  }
  [[nodiscard]] std::span<const ClassId> denied(std::size_t i) const override {
    return table_.denied(i);
  }
  [[nodiscard]] Split split(std::size_t i) const override { return table_.split(i); }

 protected:
  SampleTable table_;  // constant after construction
};

}  // namespace moil::data
