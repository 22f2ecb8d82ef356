#include "datasets/readers/unlabelled_dataset.h"

#include "base/error.h"

namespace moil::data {

UnlabelledDataset::UnlabelledDataset(const LabelStore& store, const Kind& kind) : store_(store) {
  store.for_each_sample({}, [&](const SampleRecord& sample) {
    if (sample.labels.empty() && kind.takes(sample.media_type)) samples_.push_back(sample);
  });
}

const SampleRecord& UnlabelledDataset::sample(std::size_t i) const {
  if (i < samples_.size()) return samples_[i];
  throw Error(ErrorCode::kInvalidArgument,
              "there is no sample " + std::to_string(i) + " of " + std::to_string(samples_.size()));
}

std::vector<std::uint8_t> UnlabelledDataset::encoded(std::size_t i) const {
  return store_.content(digest(i));
}

EncodedHead UnlabelledDataset::head(std::size_t i, std::size_t most) const {
  EncodedHead head;
  head.bytes = store_.content_head(digest(i), most, head.size);
  return head;
}

std::string UnlabelledDataset::name(std::size_t i) const {
  return spoken_name(digest(i), sample(i).name);
}

}  // namespace moil::data
