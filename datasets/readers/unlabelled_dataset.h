// The unlabelled samples of a kind in a label store, as they were at the time of construction, in
// the order in which they were added. They have no labels and no classes.
#pragma once

#include <string>
#include <vector>

#include "datasets/kinds/kind.h"
#include "datasets/labels/label_store.h"
#include "datasets/samples/dataset.h"

namespace moil::data {

class UnlabelledDataset : public SampleDataset {
 public:
  // The store outlives the dataset.
  UnlabelledDataset(const LabelStore& store, const Kind& kind);

  [[nodiscard]] std::size_t size() const override { return samples_.size(); }
  [[nodiscard]] const std::vector<std::string>& classes() const override { return classes_; }
  [[nodiscard]] std::span<const ClassId> labels(std::size_t /*i*/) const override { return {}; }
  [[nodiscard]] Split split(std::size_t i) const override { return sample(i).split; }
  [[nodiscard]] Digest digest(std::size_t i) const override { return sample(i).digest; }
  [[nodiscard]] std::int64_t scene(std::size_t i) const override { return sample(i).scene; }
  [[nodiscard]] std::vector<std::uint8_t> encoded(std::size_t i) const override;
  [[nodiscard]] EncodedHead head(std::size_t i, std::size_t most) const override;
  [[nodiscard]] std::string name(std::size_t i) const override;

 private:
  const SampleRecord& sample(std::size_t i) const;

  const LabelStore& store_;
  std::vector<SampleRecord> samples_;
  const std::vector<std::string> classes_;
};

}  // namespace moil::data
