#include "datasets/samples/dataset.h"

#include <algorithm>

#include "base/error.h"

namespace moil::data {

EncodedHead SampleDataset::head(std::size_t i, std::size_t most) const {
  EncodedHead head{encoded(i), 0};
  head.size = head.bytes.size();
  head.bytes.resize(std::min(head.bytes.size(), most));
  return head;
}

void FeatureDataset::read(std::size_t i, std::span<float> out) const {
  if (out.size() != floats())
    throw Error(ErrorCode::kInvalidArgument, "the pack's feature maps have " +
                                                 std::to_string(floats()) + " numbers each; " +
                                                 std::to_string(out.size()) + " are asked for");
  read_into(i, out.data());
}

std::vector<std::size_t> samples_of(const Dataset& dataset, Split split) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    if (dataset.split(i) == split) indices.push_back(i);
  }
  return indices;
}

std::vector<ClassId> single_labels(const Dataset& dataset) {
  std::vector<ClassId> labels(dataset.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto of_sample = dataset.labels(i);
    if (of_sample.size() != 1) {
      throw Error(ErrorCode::kInvalidArgument, "sample " + std::to_string(i) + " has " +
                                                   std::to_string(of_sample.size()) +
                                                   " labels, expected one");
    }
    labels[i] = of_sample[0];
  }
  return labels;
}

}  // namespace moil::data
