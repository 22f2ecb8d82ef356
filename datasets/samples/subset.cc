#include "datasets/samples/subset.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace moil::data {

ClassSubset::ClassSubset(const SampleDataset& base, const std::vector<std::string>& classes)
    : base_(base) {
  std::vector<std::optional<ClassId>> map(base.classes().size());
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const auto found = std::ranges::find(base.classes(), classes[k]);
    if (found == base.classes().end()) {
      throw Error(ErrorCode::kInvalidArgument, "the dataset has no class '" + classes[k] + "'");
    }
    map[static_cast<std::size_t>(found - base.classes().begin())] = static_cast<ClassId>(k);
  }
  table_ = SampleTable(classes);
  for (std::size_t i = 0; i < base.size(); ++i) {
    std::vector<ClassId> labels;
    for (const ClassId label : base.labels(i)) {
      if (map[label]) labels.push_back(*map[label]);
    }
    if (labels.empty()) continue;
    table_.add(std::move(labels), base.split(i));
    indices_.push_back(i);
  }
}

}  // namespace moil::data
