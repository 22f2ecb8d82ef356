#include "daemon/night/labelled_features.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "daemon/night/backbone.h"
#include "daemon/night/classifier_features.h"
#include "daemon/night/head_slice.h"
#include "daemon/night/kernel_profile.h"
#include "daemon/night/night_model.h"
#include "engine/kernels/parallel.h"

namespace moil::night {
namespace {

ClassifierInput input_of(const StoredModel& model) {
  auto input =
      model.task->outputs_are_labels() ? classifier_input(model.description) : std::nullopt;
  if (!input)
    throw Error(ErrorCode::kInvalidArgument,
                "the model has no classifier whose features tell its labels apart");
  return *input;
}

std::unique_ptr<cache::FeatureCache> open_cache(const daemon::StateLayout& layout,
                                                cache::StoredType stored_as) {
  if (!std::filesystem::is_directory(layout.cache())) return nullptr;
  try {
    cache::Options options;
    options.read_only = true;
    options.stored_as = stored_as;
    return std::make_unique<cache::FeatureCache>(layout.cache(), options);
  } catch (const Error&) {  // what is computed again is the same
    return nullptr;
  }
}

KernelSelector kernels_of(const daemon::JobSpec& spec, const KernelProfile& profile) {
  KernelSelector::Options options;
  options.exact_arithmetic = spec.exact_arithmetic;
  options.measure = false;
  return KernelSelector(options, {}, profile.choices);
}

// Where nothing is frozen, the classifier alone is behind the maps.
Freeze freeze_of(const StoredModel& model, const daemon::JobSpec& spec) {
  return freeze_all_but_last(model.description,
                             std::max(1, spec.freeze.trainable_layers.count.value_or(1)));
}

}  // namespace

StudiedModel::StudiedModel(const daemon::StateLayout& state, const daemon::JobFile& job)
    : layout(state),
      file(job),
      model(open_model_folder(layout.version(file.spec.model, file.base_version))),
      store(layout.labels(), data::LabelStore::Access::kReadOnly),
      input(input_of(model)),
      weights(model.weights.read(input.weight).data),
      bias(model.weights.read(input.bias).data) {
  set_thread_count(file.threads);
}

bool FeatureRows::is_readable(std::size_t sample) const {
  return std::ranges::find(unreadable, sample, &UnreadSample::sample) == unreadable.end();
}

std::vector<float> StudiedModel::chances(std::span<const float> row) const {
  std::vector<float> outputs;
  for (std::size_t k = 0; k < bias.size(); ++k) {
    double sum = double{bias[k]};
    for (std::size_t j = 0; j < row.size(); ++j)
      sum += double{weights[k * row.size() + j]} * double{row[j]};
    outputs.push_back(static_cast<float>(sum));
  }
  if (model.calibration) temper(outputs, {}, model.calibration->temperature);
  const bool of_one = model.task->loss(model.description).type == "softmax_cross_entropy";
  const float most = of_one ? *std::ranges::max_element(outputs) : 0;
  double all = 0;
  for (float& x : outputs) all += double{x = of_one ? std::exp(x - most) : 1 / (1 + std::exp(-x))};
  for (float& x : outputs)
    if (of_one) x = static_cast<float>(double{x} / all);
  return outputs;
}

FeatureRows StudiedModel::features(const data::SampleDataset& samples) const {
  FeatureRows found;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto labels = samples.labels(i);
    found.mixed.push_back({{data::Source::kLocal, i},
                           samples.digest(i),
                           {labels.begin(), labels.end()},
                           1,
                           samples.scene(i)});
  }
  const KernelProfile profile = load_kernel_profile(layout.kernel_profile());
  KernelSelector backbone_kernels = kernels_of(file.spec, profile);
  KernelSelector head_kernels = kernels_of(file.spec, profile);
  const Freeze freeze = freeze_of(model, file.spec);
  const WeightsOfPart of_part = [&](const ModelDescription& part) {
    return model.weights.of(part);
  };
  Backbone backbone(model.description, of_part, freeze, kBackboneBatch, backbone_kernels);
  const bool bf16 = file.spec.cache.dtype == daemon::CacheDtype::kBf16;
  const auto cache = backbone.is_identity() ? nullptr
                                            : open_cache(layout, bf16 ? cache::StoredType::kBf16
                                                                      : cache::StoredType::kFp32);
  cache::ModelId id;
  if (cache) {
    const auto known =
        profile.answers.find(cache::to_hex(cache::model_id(backbone.arithmetic(), "arithmetic")));
    if (known != profile.answers.end()) backbone.take_answer(known->second);
    id =
        cache::model_id(backbone.fingerprint() + " at " + freeze.split + (bf16 ? " bf16" : " fp32"),
                        model.kind->fingerprint());
  }
  const Origins origins{nullptr, nullptr, &samples, nullptr};
  FeatureReader reader(origins, model.kind, backbone, cache.get(), id);
  const ModelDescription head = head_slice(model.description, freeze);
  ClassifierFeatures reading(front_of(head, input), input, reader, head_kernels, of_part);
  FeatureReader::Unreadable bad;
  for (std::size_t at = 0; at < found.mixed.size(); at += ClassifierFeatures::kViewsAtOnce) {
    std::vector<SampleView> views;
    for (std::size_t i = at;
         i < std::min(found.mixed.size(), at + ClassifierFeatures::kViewsAtOnce); ++i)
      views.push_back({&found.mixed[i], 0, 0});
    reading.add(views, found.rows, &bad);
  }
  for (const UnreadableSample& sample : bad)
    found.unreadable.push_back({sample.sample->ref.index, sample.why});
  return found;
}

}  // namespace moil::night
