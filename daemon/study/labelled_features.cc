#include "daemon/study/labelled_features.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "daemon/night/data/night_data.h"
#include "engine/kernels/gemm/gemm.h"
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

}  // namespace

StudiedModel::StudiedModel(const daemon::StateLayout& state, const daemon::JobFile& job,
                           StudyProgress progress)
    : layout(state),
      file(job),
      model(open_model_folder(layout.version(file.spec.model, file.base_version))),
      store(layout.labels(), data::LabelStore::Access::kReadOnly),
      input(input_of(model)),
      weights(model.weights.read(input.weight).data),
      bias(model.weights.read(input.bias).data),
      progress_(std::move(progress)) {
  set_thread_count(file.threads);
}

void StudiedModel::tell(daemon::Stage stage, std::int64_t done, std::int64_t total) const {
  constexpr std::chrono::milliseconds kSeldom{500};
  const auto now = std::chrono::steady_clock::now();
  if (!progress_ || now - told_ < kSeldom) return;
  told_ = now;
  progress_(stage, done, total);
}

bool FeatureRows::is_readable(std::size_t sample) const {
  return !std::ranges::binary_search(unreadable, sample, {}, &UnreadSample::sample);
}

std::vector<float> StudiedModel::outputs(std::span<const float> row) const {
  std::vector<float> outputs = bias;
  sgemm(Transpose::kNo, Transpose::kYes, 1, wide(bias.size()), wide(row.size()), 1, row.data(),
        wide(row.size()), weights.data(), wide(row.size()), 1, outputs.data(), wide(bias.size()));
  return outputs;
}

std::vector<float> StudiedModel::chances(std::span<const float> answer) const {
  std::vector<float> chances(answer.begin(), answer.end());
  if (model.calibration) temper(chances, {}, model.calibration->temperature);
  model.task->answer(chances, {});
  return chances;
}

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

// So few at once that the first are told within a second or two.
FeatureRows StudiedModel::features(const data::SampleDataset& samples, const EachPart& each,
                                   const SomeRead& some_read) const {
  constexpr std::size_t kAtOnce = 3 * ClassifierFeatures::kViewsAtOnce;
  FeatureRows found;
  found.mixed = mixed_of(samples, *model.kind);
  const auto width = static_cast<std::size_t>(input.width);
  found.rows.assign(found.mixed.size() * width, 0);
  StudyMaps maps(*this, samples);
  UnreadableSamples bad;
  std::vector<float> rows;
  const std::vector<SampleView> views = views_of(found.mixed);
  const auto total = static_cast<std::int64_t>(views.size());
  std::int64_t done = 0;
  const auto tell_read = [&](std::size_t more) {
    done += static_cast<std::int64_t>(more);
    tell(daemon::Stage::kCache, done, total);
  };
  for (std::size_t at = 0; at < views.size(); at += kAtOnce) {
    const auto some = std::span(views).subspan(at, std::min(kAtOnce, views.size() - at));
    maps.read(some, rows, bad, tell_read);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto row = std::span<const float>(rows).subspan(i * width, width);
      const data::MixedSample& sample = *some[i].sample;
      const auto mean = std::span(found.rows).subspan(sample.ref.index * width, width);
      for (std::size_t j = 0; j < width; ++j) mean[j] += row[j] / static_cast<float>(sample.parts);
      if (each) each(sample, some[i].part, row);
    }
    if (some_read) some_read(bad);
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
