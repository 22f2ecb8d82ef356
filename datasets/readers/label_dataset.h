// D_L as a dataset: the labelled samples of a kind in a label store, as they were at the time of
// construction.
//
// Classes are the labels that a sample carries, sorted by name; denials are none
// (Dataset::denials). Samples are in the order in which they were added. Other media are passed
// over, and counted. A sample that the user forgets while a night runs gives kNotFound from then
// on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "datasets/kinds/kind.h"
#include "datasets/labels/label_store.h"
#include "datasets/samples/sample_table.h"

namespace moil::data {

class LabelDataset : public TableDataset<SampleDataset> {
 public:
  // Samples of this kind. The store outlives the dataset.
  LabelDataset(const LabelStore& store, const Kind& kind);

  [[nodiscard]] Digest digest(std::size_t i) const override;
  [[nodiscard]] std::vector<std::uint8_t> encoded(std::size_t i) const override;
  [[nodiscard]] EncodedHead head(std::size_t i, std::size_t most) const override;
  [[nodiscard]] std::int64_t scene(std::size_t i) const override;
  // Indices of those of which no night has told the store what they look like, or that it uses them
  // on the side on which they lie.
  [[nodiscard]] const std::vector<std::size_t>& not_looked_at() const { return not_looked_at_; }
  [[nodiscard]] const std::vector<std::size_t>& not_used() const { return not_used_; }
  // As the user gave it, with the digest.
  [[nodiscard]] std::string name(std::size_t i) const override;
  // Samples of the store that are of other kinds, by media type.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& passed_over() const {
    return passed_over_;
  }

 private:
  const LabelStore& store_;
  std::vector<Digest> digests_;
  std::vector<std::int64_t> scenes_;
  std::vector<std::size_t> not_looked_at_, not_used_;
  std::map<std::string, std::uint64_t> passed_over_;
};

}  // namespace moil::data
