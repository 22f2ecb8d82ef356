#include "daemon/night/night_data.h"

#include <algorithm>

#include "daemon/night/class_space.h"
#include "daemon/night/field_error.h"
#include "datasets/labels/text.h"
#include "datasets/pack/feature_pack.h"
#include "datasets/pack/image_pack.h"
#include "datasets/readers/label_dataset.h"
#include "datasets/readers/subset.h"

namespace moil::night {

struct NightData::Readers {
  Readers(const std::filesystem::path& labels, const data::Kind& kind)
      : store(labels, data::LabelStore::Access::kReadOnly), labelled(store, kind) {}

  data::LabelStore store;
  data::LabelDataset labelled;
  std::unique_ptr<data::ClassSubset> chosen;  // where the job names labels
  std::unique_ptr<data::ImagePack> images;
  std::unique_ptr<data::FeaturePack> features;
};

NightData::NightData(const daemon::StateLayout& layout, const daemon::JobSpec& spec,
                     const data::Kind& kind)
    : readers_(std::make_unique<Readers>(layout.labels(), kind)) {
  if (spec.local.labels) choose(*spec.local.labels);
  at_field("/global/pack", [&] { open_pack(spec.global.pack); });
  reconciliation_ = readers_->store.reconciliation();
  origins_.global_samples = readers_->images.get();
  origins_.global_features = readers_->features.get();
  origins_.local_samples = readers_->chosen
                               ? static_cast<const data::SampleDataset*>(readers_->chosen.get())
                               : &readers_->labelled;
}

NightData::~NightData() = default;

void NightData::choose(const std::vector<std::string>& labels) {
  const auto& known = readers_->labelled.classes();
  std::vector<std::string> names;
  daemon::FieldErrors errors;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    names.push_back(data::normal(labels[i]));
    if (std::ranges::find(known, names[i]) != known.end()) continue;
    errors.push_back(
        {"/local/labels/" + std::to_string(i), daemon::unknown_message("label", labels[i], known)});
  }
  if (!errors.empty()) throw daemon::ValidationError("the job description", std::move(errors));
  readers_->chosen = std::make_unique<data::ClassSubset>(readers_->labelled, names);
}

void NightData::open_pack(const std::filesystem::path& pack) {
  if (data::read_manifest(pack).kind == data::PackKind::kImages) {
    readers_->images = data::open_image_pack(pack);
  } else {
    readers_->features = data::open_feature_pack(pack);
  }
}

const data::Dataset& NightData::global() const {
  if (origins_.global_samples != nullptr) return *origins_.global_samples;
  return *origins_.global_features;
}

const data::Dataset& NightData::local() const { return *origins_.local_samples; }

data::Mix NightData::draw_mix(const daemon::JobSpec& spec,
                              const std::vector<std::string>& model_labels,
                              const std::unordered_set<data::Digest>& unreadable) const {
  data::MixOptions options;
  if (spec.global.limit) options.limit = static_cast<std::size_t>(*spec.global.limit);
  options.known_labels = model_labels;
  data::Mix mix = at_field("/local/labels", [&] {
    return data::mix(global(), local(), reconciliation_, spec.global.alpha, spec.seed, unreadable,
                     options);
  });
  at_field("/global/pack", [&] { renumber_classes(mix, model_labels); });
  if (mix.train.empty()) {
    throw field_error("/global/alpha",
                      "there is nothing to train on: no labelled samples, and global.alpha is " +
                          daemon::Json(spec.global.alpha).dump());
  }
  return mix;
}

bool NightData::is_remembered(const data::MixedSample& sample) const {
  return sample.ref.source == data::Source::kGlobal || readers_->store.has(sample.digest);
}

const std::map<std::string, std::uint64_t>& NightData::other_media() const {
  return readers_->labelled.passed_over();
}

void NightData::check_features(const Backbone& backbone, const Freeze& freeze) const {
  const data::FeatureDataset* pack = origins_.global_features;
  if (pack == nullptr) return;
  if (pack->backbone() == backbone.network_fingerprint() && pack->split_point() == freeze.split)
    return;
  throw field_error("/global/pack",
                    "the global pack holds feature maps of another backbone or split (\"" +
                        pack->split_point() + "\"; this night splits at \"" + freeze.split +
                        "\"); use a pack of samples, or the pack made for this model and freeze");
}

}  // namespace moil::night
