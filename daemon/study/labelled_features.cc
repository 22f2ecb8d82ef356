#include "daemon/study/labelled_features.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "daemon/night/data/night_data.h"
#include "daemon/night/maps/backbone.h"
#include "daemon/night/maps/classifier_features.h"
#include "daemon/night/maps/head_slice.h"
#include "daemon/night/plan/kernel_profile.h"
#include "daemon/night/plan/night_model.h"
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

std::unique_ptr<cache::FeatureCache> open_cache(const daemon::StateLayout& layout) {
  if (!std::filesystem::is_directory(layout.cache())) return nullptr;
  try {
    cache::Options options;
    options.read_only = true;
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
  return !std::ranges::binary_search(unreadable, sample, {}, &UnreadSample::sample);
}

std::vector<float> StudiedModel::outputs(std::span<const float> row) const {
  std::vector<float> outputs;
  for (std::size_t k = 0; k < bias.size(); ++k) {
    double sum = double{bias[k]};
    for (std::size_t j = 0; j < row.size(); ++j)
      sum += double{weights[k * row.size() + j]} * double{row[j]};
    outputs.push_back(static_cast<float>(sum));
  }
  return outputs;
}

std::vector<float> StudiedModel::chances(std::span<const float> answer) const {
  std::vector<float> chances(answer.begin(), answer.end());
  if (model.calibration) temper(chances, {}, model.calibration->temperature);
  model.task->answer(chances, {});
  return chances;
}

// What reads the feature maps of samples.
class StudiedModel::Reading {
 public:
  Reading(const StudiedModel& studied, const data::SampleDataset& samples)
      : model_(studied.model),
        profile_(load_kernel_profile(studied.layout.kernel_profile())),
        backbone_kernels_(kernels_of(studied.file.spec, profile_)),
        head_kernels_(kernels_of(studied.file.spec, profile_)),
        freeze_(freeze_of(model_, studied.file.spec)),
        of_part_([this](const ModelDescription& part) { return model_.weights.of(part); }),
        backbone_(model_.description, of_part_, freeze_, kBackboneBatch, backbone_kernels_),
        cache_(backbone_.is_identity() ? nullptr : open_cache(studied.layout)),
        origins_{nullptr, nullptr, &samples, nullptr},
        stored_(origins_, model_.kind, backbone_, cache_.get(), id_of(studied)),
        computed_(origins_, model_.kind, backbone_, nullptr, {}),
        of_stored_(front(studied), studied.input, stored_, head_kernels_, of_part_),
        of_computed_(front(studied), studied.input, computed_, head_kernels_, of_part_) {}

  // Rows of the views, in their order. Maps that are there and those that are not are read apart:
  // both by the batch.
  void read(std::span<const SampleView> views, std::vector<float>& rows,
            FeatureReader::Unreadable& bad) {
    std::vector<SampleView> there, missing;
    const std::vector<std::uint8_t> is_there = stored(views);
    for (std::size_t i = 0; i < views.size(); ++i)
      (is_there[i] != 0 ? there : missing).push_back(views[i]);
    const std::vector<float> of_there = rows_of(of_stored_, there, bad),
                             of_missing = rows_of(of_computed_, missing, bad);
    const std::size_t width =
        views.empty() ? 0 : (of_there.size() + of_missing.size()) / views.size();
    rows.clear();
    std::size_t next_there = 0, next_missing = 0;
    for (const std::uint8_t found : is_there) {
      const auto from =
          found != 0 ? of_there.begin() + static_cast<std::ptrdiff_t>(width * next_there++)
                     : of_missing.begin() + static_cast<std::ptrdiff_t>(width * next_missing++);
      rows.insert(rows.end(), from, from + static_cast<std::ptrdiff_t>(width));
    }
  }

 private:
  std::vector<std::uint8_t> stored(std::span<const SampleView> views) const {
    std::vector<std::uint8_t> is_there(views.size());
    if (!cache_) return is_there;
    std::vector<cache::FeatureKey> keys;
    for (const SampleView& view : views) keys.push_back(stored_.key(view));
    cache_->contains(keys, is_there);
    return is_there;
  }

  static std::vector<float> rows_of(ClassifierFeatures& features, std::span<const SampleView> views,
                                    FeatureReader::Unreadable& bad) {
    std::vector<float> rows;
    for (std::size_t at = 0; at < views.size(); at += ClassifierFeatures::kViewsAtOnce)
      features.add(views.subspan(at, std::min(ClassifierFeatures::kViewsAtOnce, views.size() - at)),
                   rows, &bad);
    return rows;
  }

  ModelDescription front(const StudiedModel& studied) const {
    return front_of(head_slice(model_.description, freeze_), studied.input);
  }

  cache::ModelId id_of(const StudiedModel& studied) {
    if (!cache_) return {};
    const auto known =
        profile_.answers.find(cache::to_hex(cache::model_id(backbone_.arithmetic(), "arithmetic")));
    if (known != profile_.answers.end()) backbone_.take_answer(known->second);
    const bool bf16 = studied.file.spec.cache.dtype == daemon::CacheDtype::kBf16;
    return cache::model_id(
        backbone_.fingerprint() + " at " + freeze_.split + (bf16 ? " bf16" : " fp32"),
        model_.kind->fingerprint());
  }

  const StoredModel& model_;
  const KernelProfile profile_;
  KernelSelector backbone_kernels_, head_kernels_;
  const Freeze freeze_;
  const WeightsOfPart of_part_;
  Backbone backbone_;
  const std::unique_ptr<cache::FeatureCache> cache_;
  const Origins origins_;
  FeatureReader stored_, computed_;
  ClassifierFeatures of_stored_, of_computed_;
};

namespace {

std::vector<data::MixedSample> mixed_of(const data::SampleDataset& samples,
                                        const data::Kind& kind) {
  std::vector<data::MixedSample> mixed;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto labels = samples.labels(i);
    mixed.push_back({{data::Source::kLocal, i},
                     samples.digest(i),
                     {labels.begin(), labels.end()},
                     parts_of(kind, samples, i),
                     samples.scene(i)});
  }
  return mixed;
}

// All parts, one sample after the other.
std::vector<SampleView> views_of(const std::vector<data::MixedSample>& samples) {
  std::vector<SampleView> views;
  for (const data::MixedSample& sample : samples)
    for (std::uint32_t part = 0; part < sample.parts; ++part) views.push_back({&sample, 0, part});
  return views;
}

}  // namespace

FeatureRows StudiedModel::features(const data::SampleDataset& samples, const EachPart& each) const {
  constexpr std::size_t kAtOnce = 16 * ClassifierFeatures::kViewsAtOnce;
  FeatureRows found;
  found.mixed = mixed_of(samples, *model.kind);
  const auto width = static_cast<std::size_t>(input.width);
  found.rows.assign(found.mixed.size() * width, 0);
  Reading reading(*this, samples);
  FeatureReader::Unreadable bad;
  std::vector<float> rows;
  const std::vector<SampleView> views = views_of(found.mixed);
  for (std::size_t at = 0; at < views.size(); at += kAtOnce) {
    const auto some = std::span(views).subspan(at, std::min(kAtOnce, views.size() - at));
    reading.read(some, rows, bad);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto row = std::span<const float>(rows).subspan(i * width, width);
      const data::MixedSample& sample = *some[i].sample;
      const auto mean = std::span(found.rows).subspan(sample.ref.index * width, width);
      for (std::size_t j = 0; j < width; ++j) mean[j] += row[j] / static_cast<float>(sample.parts);
      if (each) each(sample, some[i].part, row);
    }
  }
  for (const UnreadableSample& sample : bad)
    found.unreadable.push_back({sample.sample->ref.index, sample.why});
  std::ranges::sort(found.unreadable, {}, &UnreadSample::sample);
  return found;
}

SaidOfSamples::SaidOfSamples(const StudiedModel& model, Each each)
    : model_(model),
      answers_(model.model.kind->part_answer(), *model.model.task, {}),
      each_(std::move(each)) {}

void SaidOfSamples::add(const data::MixedSample& sample, std::uint32_t part,
                        std::span<const float> row) {
  answers_.add(model_.outputs(row));
  if (part + 1 == sample.parts) each_(sample.ref.index, model_.chances(answers_.take()));
}

}  // namespace moil::night
