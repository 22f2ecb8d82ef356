#include "daemon/night/maps/feature_source.h"

#include <cmath>

namespace moil::night {
namespace {

void write_shown_targets(const MixTargets& from, FeatureReader& reader,
                         std::span<const SampleView> views, const BatchTensor& targets) {
  reader.show(views, [&](std::size_t i, std::span<const float> shown) {
    from.write_shown(shown, {targets.row(i), targets.elements});
  });
}

}  // namespace

bool FeatureSource::is_silent(const SampleView& shown) const {
  if (shown.part == data::kSilence) return true;
  return means_ ? shown.sample->silent.size() >= shown.sample->parts
                : shown.sample->is_silent(shown.part);
}

SampleView FeatureSource::shown(std::int64_t index) const {
  const data::MixedSample& sample = samples_[static_cast<std::size_t>(index % size())];
  const std::int64_t face = index / size(), views = reader_.views_of(sample.ref.source);
  if (face == reader_.faces(sample)) return {&sample, 0, data::kSilence};
  return {&sample, static_cast<std::uint16_t>(face % views),
          sample.shown_part(static_cast<std::uint32_t>(face / views))};
}

void FeatureSource::write_target(std::int64_t sample, const SampleView& shown,
                                 std::span<float> target) {
  if (is_silent(shown) && reader_.shows_silence(*shown.sample))
    return targets_.write_silence(target);
  targets_.write(samples_[static_cast<std::size_t>(sample)], target);
  if (teacher_.soft == nullptr || !teacher_.soft->has(sample)) return;
  read_soft(sample, shown);
  const auto taught = static_cast<float>(teacher_.share),
             labels = static_cast<float>(1 - teacher_.share);
  for (std::size_t o = 0; o < target.size(); ++o) {
    if (std::isnan(target[o])) {
      if (o < soft_.size()) target[o] = soft_[o];
      continue;
    }
    target[o] *= labels;
    if (o < soft_.size()) target[o] += taught * soft_[o];
  }
}

// Reads those of the part that is shown, or the mean of all.
void FeatureSource::read_soft(std::int64_t sample, const SampleView& shown) {
  soft_.resize(teacher_.soft->classes());
  if (!means_) return teacher_.soft->read(sample, shown.part, shown.view, soft_);
  soft_sum_.assign(soft_.size(), 0.0F);
  for (std::uint32_t n = 0; n < shown.sample->shown_parts(); ++n) {
    teacher_.soft->read(sample, shown.sample->shown_part(n), shown.view, soft_);
    for (std::size_t o = 0; o < soft_.size(); ++o) soft_sum_[o] += soft_[o];
  }
  const auto parts = static_cast<float>(shown.sample->shown_parts());
  for (std::size_t o = 0; o < soft_.size(); ++o) soft_[o] = soft_sum_[o] / parts;
}

// Reads for each of views_ the mean of its sample's parts.
void FeatureSource::read_means(const BatchTensor& input) {
  const std::size_t elements = reader_.elements(), batch = reader_.batch();
  parts_.clear();
  row_of_part_.clear();
  for (std::size_t i = 0; i < views_.size(); ++i) {
    std::fill_n(input.row(i), elements, 0.0F);
    const bool is_silence = views_[i].part == data::kSilence;
    const std::uint32_t parts = is_silence ? 1 : views_[i].sample->shown_parts();
    for (std::uint32_t n = 0; n < parts; ++n) {
      parts_.push_back(views_[i]);
      if (!is_silence) parts_.back().part = views_[i].sample->shown_part(n);
      row_of_part_.push_back(i);
    }
  }
  part_maps_.resize(batch * elements);
  for (std::size_t begin = 0; begin < parts_.size(); begin += batch) {
    const std::size_t count = std::min(batch, parts_.size() - begin);
    reader_.read(std::span(parts_).subspan(begin, count), part_maps_.data());
    for (std::size_t p = 0; p < count; ++p) {
      float* row = input.row(row_of_part_[begin + p]);
      for (std::size_t k = 0; k < elements; ++k) row[k] += part_maps_[p * elements + k];
    }
  }
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const auto parts = static_cast<float>(std::ranges::count(row_of_part_, i));
    for (std::size_t k = 0; k < elements; ++k) input.row(i)[k] /= parts;
  }
}

void FeatureSource::read(std::span<const std::int64_t> indices, const Batch& batch) {
  const BatchTensor& targets = batch.targets[0];
  views_.clear();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    views_.push_back(shown(indices[i]));
    if (!targets_.are_shown())
      write_target(indices[i] % size(), views_.back(), {targets.row(i), targets.elements});
  }
  if (targets_.are_shown()) write_shown_targets(targets_, reader_, views_, targets);
  if (means_)
    read_means(batch.inputs[0]);
  else
    reader_.read(views_, batch.inputs);
}

std::vector<std::int64_t> FeatureSource::order(std::span<const std::size_t> samples,
                                               std::int64_t epoch) const {
  std::vector<std::int64_t> indices;
  indices.reserve(samples.size());
  for (const std::size_t s : samples) {
    const auto sample = static_cast<std::int64_t>(s);
    indices.push_back(sample + size() * reader_.face_at(samples_[s], epoch + sample));
  }
  return indices;
}

PartSource::PartSource(const std::vector<data::MixedSample>& samples, const MixTargets& targets,
                       FeatureReader& reader)
    : samples_(samples), targets_(targets), reader_(reader) {
  ends_.reserve(samples.size());
  std::int64_t parts = 0;
  for (const data::MixedSample& s : samples) ends_.push_back(parts += s.shown_parts());
}

SampleView PartSource::part(std::int64_t index) const {
  const auto end = std::ranges::upper_bound(ends_, index);
  const data::MixedSample& sample = samples_[static_cast<std::size_t>(end - ends_.begin())];
  const std::int64_t n = index - (*end - std::int64_t{sample.shown_parts()});
  return {&sample, 0, sample.shown_part(static_cast<std::uint32_t>(n))};
}

void PartSource::read(std::span<const std::int64_t> indices, const Batch& batch) {
  const BatchTensor& targets = batch.targets[0];
  batch_.clear();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    batch_.push_back(part(indices[i]));
    targets_.write(*batch_.back().sample, {targets.row(i), targets.elements});
  }
  if (targets_.are_shown()) write_shown_targets(targets_, reader_, batch_, targets);
  reader_.read(batch_, batch.inputs);
}

}  // namespace moil::night
