#include "datasets/samples/subset.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace moil::data {

namespace {

// The wanted of some names, and the number of each of these among them.
struct Chosen {
  std::vector<std::string> names;
  std::vector<std::optional<ClassId>> number;

  Chosen(const std::vector<std::string>& of, const std::vector<std::string>& wanted)
      : number(of.size()) {
    for (const std::string& name : wanted) {
      const auto found = std::ranges::find(of, name);
      if (found == of.end()) continue;
      number[static_cast<std::size_t>(found - of.begin())] = static_cast<ClassId>(names.size());
      names.push_back(name);
    }
  }
  bool has(const std::string& name) const { return std::ranges::count(names, name) > 0; }
  std::vector<ClassId> of(std::span<const ClassId> given) const {
    std::vector<ClassId> kept;
    for (const ClassId k : given)
      if (number[k]) kept.push_back(*number[k]);
    return kept;
  }
};

}  // namespace

ClassSubset::ClassSubset(const SampleDataset& base, const std::vector<std::string>& classes)
    : base_(base) {
  const Chosen wanted(base.classes(), classes), denials(base.denials(), classes);
  for (const std::string& name : classes)
    if (!wanted.has(name) && !denials.has(name))
      throw Error(ErrorCode::kInvalidArgument, "the dataset has no class '" + name + "'");
  table_ = SampleTable(wanted.names, denials.names);
  for (std::size_t i = 0; i < base.size(); ++i) {
    std::vector<ClassId> labels = wanted.of(base.labels(i)), denied = denials.of(base.denied(i));
    if (labels.empty() && denied.empty()) continue;
    table_.add(std::move(labels), base.split(i), std::move(denied));
    indices_.push_back(i);
  }
}

}  // namespace moil::data
