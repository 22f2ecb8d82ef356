#include "datasets/samples/sample_table.h"

#include <algorithm>

#include "base/error.h"

namespace moil::data {

std::vector<std::string> number_classes(std::map<std::string, ClassId>& ids) {
  std::vector<std::string> classes;
  for (auto& [name, id] : ids) {
    id = static_cast<ClassId>(classes.size());
    classes.push_back(name);
  }
  return classes;
}

namespace {

// Sorts them; whether they are different numbers below `count`.
bool name_some_of(std::vector<ClassId>& numbers, std::size_t count) {
  std::ranges::sort(numbers);
  return (numbers.empty() || numbers.back() < count) &&
         std::ranges::adjacent_find(numbers) == numbers.end();
}

}  // namespace

void SampleTable::add(std::vector<ClassId> labels, Split split, std::vector<ClassId> denied) {
  const bool is_some = !labels.empty() || !denied.empty();
  if (!is_some || !name_some_of(labels, classes_.size()) ||
      !name_some_of(denied, denials_.size())) {
    throw Error(ErrorCode::kBadData, "sample " + std::to_string(size()) +
                                         ": expected one or more different labels below " +
                                         std::to_string(classes_.size()));
  }
  if (!denied.empty()) denied_[size()] = std::move(denied);
  labels_.insert(labels_.end(), labels.begin(), labels.end());
  ends_.push_back(labels_.size());
  splits_.push_back(split);
}

void SampleTable::apply(const SplitPolicy& policy) {
  if (policy.by_class) {
    splits_ = stratified_split(labels_, classes_, policy.validation_fraction, policy.seed);
    return;
  }
  const std::vector<ClassId> alike(size());
  const std::vector<std::string> all = {""};
  splits_ = stratified_split(alike, all, policy.validation_fraction, policy.seed);
}

std::span<const ClassId> SampleTable::labels(std::size_t i) const {
  check(i);
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::span(labels_).subspan(begin, ends_[i] - begin);
}

std::span<const ClassId> SampleTable::denied(std::size_t i) const {
  check(i);
  const auto found = denied_.find(i);
  return found == denied_.end() ? std::span<const ClassId>() : found->second;
}

Split SampleTable::split(std::size_t i) const {
  check(i);
  return splits_[i];
}

void SampleTable::check(std::size_t i) const {
  if (i < size()) return;
  throw Error(ErrorCode::kInvalidArgument, "there is no sample " + std::to_string(i) +
                                               ": the dataset has " + std::to_string(size()));
}

}  // namespace moil::data
