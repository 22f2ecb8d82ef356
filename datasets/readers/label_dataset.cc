#include "datasets/readers/label_dataset.h"

#include <algorithm>

#include "datasets/labels/denial.h"

namespace moil::data {

LabelDataset::LabelDataset(const LabelStore& store, const Kind& kind) : store_(store) {
  std::vector<SampleRecord> samples;
  std::map<std::string, ClassId> ids, denials;
  store.for_each_sample({}, [&](const SampleRecord& sample) {
    if (sample.labels.empty()) return;
    if (!kind.takes(sample.media_type)) {
      ++passed_over_[sample.media_type];
      return;
    }
    for (const auto& label : sample.labels)
      (is_denial(label) ? denials : ids)[without_denial(label)] = 0;
    samples.push_back(sample);
  });
  auto classes = number_classes(ids);
  table_ = SampleTable(std::move(classes), number_classes(denials));
  for (const auto& sample : samples) {
    std::vector<ClassId> labels, denied;
    for (const auto& label : sample.labels)
      is_denial(label) ? denied.push_back(denials.at(without_denial(label)))
                       : labels.push_back(ids.at(label));
    table_.add(std::move(labels), sample.split, std::move(denied));
    digests_.push_back(sample.digest);
    scenes_.push_back(sample.scene);
    if (!sample.is_looked_at) not_looked_at_.push_back(digests_.size() - 1);
    if (!sample.is_used) not_used_.push_back(digests_.size() - 1);
  }
}

Digest LabelDataset::digest(std::size_t i) const {
  table_.check(i);
  return digests_[i];
}

std::int64_t LabelDataset::scene(std::size_t i) const {
  table_.check(i);
  return scenes_[i];
}

std::vector<std::uint8_t> LabelDataset::encoded(std::size_t i) const {
  return store_.content(digest(i));
}

EncodedHead LabelDataset::head(std::size_t i, std::size_t most) const {
  EncodedHead head;
  head.bytes = store_.content_head(digest(i), most, head.size);
  return head;
}

std::string LabelDataset::name(std::size_t i) const {
  const auto sample = store_.find(digest(i));
  return spoken_name(digest(i), sample ? sample->name : "");
}

}  // namespace moil::data
