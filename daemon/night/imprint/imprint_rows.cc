#include "daemon/night/imprint/imprint_rows.h"

#include <algorithm>

#include "daemon/night/imprint/imprint.h"
#include "daemon/night/maps/classifier_features.h"
#include "datasets/labels/something_else.h"

namespace moil::night {
namespace {

std::vector<SampleView> parts_of(const ImprintPlan& plan, const data::Mix& mix) {
  std::vector<SampleView> parts;
  parts.reserve(plan.feature_rows);
  for (const std::size_t i : plan.samples)
    for (std::uint32_t n = 0; n < mix.train[i].shown_parts(); ++n)
      parts.push_back({&mix.train[i], 0, mix.train[i].shown_part(n)});
  for (const std::size_t i : plan.silences) parts.push_back({&mix.train[i], 0, data::kSilence});
  return parts;
}

// The classifier's rows as they are, without those that are to be made.
struct KnownRows {
  std::vector<float> weights, bias;
  std::vector<std::uint32_t> number;    // by class: among the known, or behind them among the new
  std::vector<data::ClassId> class_of;  // of the known

  KnownRows(const ImprintPlan& plan, const NamedTensor& all, const NamedTensor& all_bias) {
    const auto width = static_cast<std::size_t>(plan.input.width);
    const std::size_t classes = all_bias.data.size();
    auto fresh = static_cast<std::uint32_t>(classes - plan.rows.size());
    weights.reserve(fresh * width);
    for (std::size_t k = 0; k < classes; ++k) {
      const bool is_new = std::ranges::binary_search(plan.rows, static_cast<data::ClassId>(k));
      number.push_back(is_new ? fresh++ : static_cast<std::uint32_t>(bias.size()));
      if (is_new) continue;
      class_of.push_back(static_cast<data::ClassId>(k));
      const auto row = all.data.begin() + static_cast<std::ptrdiff_t>(k * width);
      weights.insert(weights.end(), row, row + static_cast<std::ptrdiff_t>(width));
      bias.push_back(all_bias.data[k]);
    }
  }
};

// Of those labels that are among the rows, their places there.
std::vector<std::uint32_t> places_of(const std::vector<data::ClassId>& labels,
                                     const std::vector<data::ClassId>& rows) {
  std::vector<std::uint32_t> places;
  for (std::uint32_t place = 0; place < rows.size(); ++place)
    if (std::ranges::binary_search(labels, rows[place])) places.push_back(place);
  return places;
}

std::vector<FoldedSample> samples_of(const ImprintPlan& plan, const data::Mix& mix,
                                     const KnownRows& known) {
  std::vector<FoldedSample> samples;
  for (std::size_t i = 0; i < plan.samples.size(); ++i) {
    const data::MixedSample& sample = mix.train[plan.samples[i]];
    FoldedSample folded{kOfNoClass, plan.folds[i], sample.described};
    if (sample.is_denied_alone())
      folded.denied = places_of(sample.denied, plan.rows);
    else if (sample.has_signal())
      folded.label = known.number.at(sample.labels[0]);
    samples.insert(samples.end(), sample.shown_parts(), folded);
  }
  samples.insert(samples.end(), plan.silences.size(), {kOfNoClass, kFolds});
  return samples;
}

std::vector<float> features_of(const ImprintWork& work,
                               const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const ImprintPlan& plan = work.plan;
  const auto parts = parts_of(plan, work.mix);
  std::vector<float> features;
  features.reserve(parts.size() * static_cast<std::size_t>(plan.input.width));
  constexpr std::size_t kAtOnce = ClassifierFeatures::kViewsAtOnce;
  ClassifierFeatures front(plan.front, plan.input, work.reader, work.kernels,
                           weights_of(work.base));
  for (std::size_t at = 0; at < parts.size(); at += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, parts.size() - at);
    front.add(std::span(parts).subspan(at, count), features);
    progress(static_cast<std::int64_t>(at + count), static_cast<std::int64_t>(parts.size()));
  }
  return features;
}

// Among the rows that are made, that of samples that have no look in common.
std::optional<std::size_t> diverse_of(const ImprintPlan& plan, const data::Mix& mix) {
  const auto is_none = [&](data::ClassId row) {
    return mix.classes.at(row) == data::kSomethingElse;
  };
  const auto found = std::ranges::find_if(plan.rows, is_none);
  if (found == plan.rows.end()) return std::nullopt;
  return static_cast<std::size_t>(found - plan.rows.begin());
}

}  // namespace

Imprinted imprint_rows(const ImprintWork& work, StoredModel& model,
                       const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const ImprintPlan& plan = work.plan;
  std::vector<float> rows = features_of(work, progress);
  NamedTensor weights = model.weights.read(plan.input.weight);
  NamedTensor bias = model.weights.read(plan.input.bias);
  const KnownRows known(plan, weights, bias);
  const auto samples = samples_of(plan, work.mix, known);
  const auto diverse = diverse_of(plan, work.mix);
  const auto made =
      imprint({.width = static_cast<std::size_t>(plan.input.width),
               .known = known.bias.size(),
               .fresh = plan.rows.size(),
               .samples = samples,
               .features = rows,
               .known_weights = known.weights,
               .known_bias = known.bias,
               .diverse = diverse,
               .each_by_itself = model.task->loss(work.head).type != "softmax_cross_entropy"});
  if (!made) return {};
  Imprinted result{
      made->fitted ? Imprinted::Kind::kFitted : Imprinted::Kind::kUnfitted, {}, made->left_out};
  for (std::size_t k = 0; k < plan.rows.size(); ++k) {
    const auto width = static_cast<std::ptrdiff_t>(plan.input.width);
    std::copy_n(made->weights.begin() + static_cast<std::ptrdiff_t>(k) * width, width,
                weights.data.begin() + std::ptrdiff_t{plan.rows[k]} * width);
    bias.data[plan.rows[k]] = made->bias[k];
    const auto& name = made->names[k];
    if (!name || k == diverse) continue;
    const data::ClassId called = known.class_of[name->known];
    if (work.mix.classes.at(called) != data::kSomethingElse)
      result.looks_like.push_back({plan.rows[k], called, name->said, name->samples});
  }
  model.weights.change(plan.input.weight, std::move(weights));
  model.weights.change(plan.input.bias, std::move(bias));
  return result;
}

}  // namespace moil::night
