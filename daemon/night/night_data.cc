#include "daemon/night/night_data.h"

#include <algorithm>

#include "base/error.h"
#include "daemon/night/class_space.h"
#include "datasets/labels/text.h"
#include "datasets/pack/feature_pack.h"
#include "datasets/pack/image_pack.h"
#include "datasets/readers/label_dataset.h"
#include "datasets/readers/subset.h"

namespace moil::night {

struct NightData::Readers {
  Readers(const std::filesystem::path& labels)
      : store(labels, data::LabelStore::Access::kReadOnly), labelled(store) {}

  data::LabelStore store;
  data::LabelDataset labelled;
  std::unique_ptr<data::ClassSubset> chosen;  // where the job names labels
  std::unique_ptr<data::ImagePack> images;
  std::unique_ptr<data::FeaturePack> features;
};

NightData::NightData(const daemon::StateLayout& layout, const daemon::JobSpec& spec)
    : readers_(std::make_unique<Readers>(layout.labels())) {
  if (spec.local.labels) {
    std::vector<std::string> names;
    for (const std::string& name : *spec.local.labels) names.push_back(data::normal(name));
    readers_->chosen = std::make_unique<data::ClassSubset>(readers_->labelled, names);
  }
  if (data::read_manifest(spec.global.pack).kind == data::PackKind::kImages) {
    readers_->images = data::open_image_pack(spec.global.pack);
  } else {
    readers_->features = data::open_feature_pack(spec.global.pack);
  }
  reconciliation_ = readers_->store.reconciliation();
  origins_.global_images = readers_->images.get();
  origins_.global_features = readers_->features.get();
  origins_.local_images = readers_->chosen
                              ? static_cast<const data::ImageDataset*>(readers_->chosen.get())
                              : &readers_->labelled;
}

NightData::~NightData() = default;

const data::Dataset& NightData::global() const {
  if (origins_.global_images != nullptr) return *origins_.global_images;
  return *origins_.global_features;
}

const data::Dataset& NightData::local() const { return *origins_.local_images; }

data::Mix NightData::draw_mix(const daemon::JobSpec& spec,
                              const std::vector<std::string>& model_labels,
                              const std::unordered_set<data::Digest>& unreadable) const {
  data::Mix mix =
      data::mix(global(), local(), reconciliation_, spec.global.alpha, spec.seed, unreadable);
  renumber_classes(mix, model_labels);
  if (mix.train.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "there is nothing to train on: no labelled samples and global.alpha is 0");
  }
  return mix;
}

bool NightData::is_remembered(const data::MixedSample& sample) const {
  return sample.ref.source == data::Source::kGlobal || readers_->store.has(sample.digest);
}

const std::map<std::string, std::uint64_t>& NightData::other_media() const {
  return readers_->labelled.passed_over();
}

}  // namespace moil::night
