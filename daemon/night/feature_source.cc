#include "daemon/night/feature_source.h"

#include <algorithm>
#include <exception>
#include <mutex>

#include "base/error.h"
#include "datasets/transforms/transform.h"

namespace moil::night {
namespace {

cache::SampleDigest to_cache(const data::Digest& digest) { return {digest.bytes}; }

// A sample that the user forgets in the middle of a night is no fault of the job: it is tried
// again, and begins anew without the sample.
void read_sample(const data::ImageDataset& from, const data::MixedSample& sample,
                 data::Image& image) {
  try {
    from.read(sample.ref.index, image);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kNotFound || sample.ref.source != data::Source::kLocal) throw;
    throw Error(ErrorCode::kIo,
                std::string("a sample was forgotten during the night: ") + e.what());
  }
}

// Decodes and preprocesses in parallel; each sample's result depends on nothing but the sample.
void preprocess(const Origins& origins, const data::Preprocessing& description,
                std::span<const data::MixedSample* const> samples, float* out) {
  const std::size_t floats = description.floats();
  std::exception_ptr error;
  std::mutex mutex;
  const auto count = static_cast<std::int64_t>(samples.size());
#pragma omp parallel
  {
    data::Transform transform(description);
    data::Image image;
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < count; ++i) {
      try {
        const data::MixedSample& s = *samples[static_cast<std::size_t>(i)];
        const data::ImageDataset& from =
            s.ref.source == data::Source::kGlobal ? *origins.global_images : *origins.local_images;
        read_sample(from, s, image);
        transform.apply(image, out + static_cast<std::size_t>(i) * floats);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace

FeatureReader::FeatureReader(const Origins& origins, const data::Preprocessing& preprocessing,
                             Backbone& backbone, cache::FeatureCache* cache,
                             const cache::ModelId& model)
    : origins_(origins),
      preprocessing_(preprocessing),
      backbone_(backbone),
      cache_(cache),
      model_(model) {}

cache::FeatureKey FeatureReader::key(const data::MixedSample& sample) const {
  return {model_, to_cache(sample.digest), 0};
}

bool FeatureReader::from_pack(const data::MixedSample& sample) const {
  return sample.ref.source == data::Source::kGlobal && origins_.global_features != nullptr;
}

std::size_t FeatureReader::buffer_bytes() const {
  const auto batch = static_cast<std::size_t>(backbone_.batch());
  return batch * (backbone_.input_elements() + backbone_.feature_elements()) * sizeof(float);
}

void FeatureReader::compute(std::span<const data::MixedSample* const> samples, float* out) {
  const auto batch = static_cast<std::size_t>(backbone_.batch());
  images_.resize(batch * backbone_.input_elements());
  backbone_.allocate();
  for (std::size_t begin = 0; begin < samples.size(); begin += batch) {
    const auto part = samples.subspan(begin, std::min(batch, samples.size() - begin));
    preprocess(origins_, preprocessing_, part, images_.data());
    backbone_.run(images_.data(), static_cast<std::int64_t>(part.size()), out + begin * elements());
  }
}

void FeatureReader::read(std::span<const data::MixedSample* const> samples, float* out) {
  for (std::size_t begin = 0; begin < samples.size();) {
    std::size_t end = begin;
    const bool packed = from_pack(*samples[begin]);
    while (end < samples.size() && from_pack(*samples[end]) == packed) ++end;
    const auto run = samples.subspan(begin, end - begin);
    float* rows = out + begin * elements();
    if (packed) {
      for (std::size_t i = 0; i < run.size(); ++i) {
        origins_.global_features->read(run[i]->ref.index, rows + i * elements());
      }
    } else if (cache_ != nullptr) {
      read_cached(run, rows);
    } else {
      compute(run, rows);
    }
    begin = end;
  }
}

// An entry that the cache lost since it was filled (damaged, evicted) is computed again.
void FeatureReader::read_cached(std::span<const data::MixedSample* const> samples, float* out) {
  keys_.clear();
  for (const data::MixedSample* s : samples) keys_.push_back(key(*s));
  found_.assign(samples.size(), 0);
  if (cache_->find(keys_, out, elements(), found_) == samples.size()) return;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!found_[i]) compute(samples.subspan(i, 1), out + i * elements());
  }
}

bool FeatureReader::fill(std::span<const data::MixedSample* const> samples, Filled& filled,
                         const std::function<bool(std::int64_t done)>& progress) {
  std::vector<cache::FeatureKey> keys;
  std::vector<const data::MixedSample*> wanted;
  for (const data::MixedSample* s : samples) {
    if (from_pack(*s)) continue;
    keys.push_back(key(*s));
    wanted.push_back(s);
  }
  std::vector<std::uint8_t> present(keys.size());
  cache_->contains(keys, present, cache::Depth::kChecksum);
  std::vector<const data::MixedSample*> missing;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!present[i]) missing.push_back(wanted[i]);
  }
  filled.reused += static_cast<std::int64_t>(wanted.size() - missing.size());
  const auto batch = static_cast<std::size_t>(backbone_.batch());
  std::vector<float> features(std::min(batch, missing.size()) * elements());
  std::int64_t done = static_cast<std::int64_t>(samples.size() - missing.size());
  if (!progress(done)) return false;
  for (std::size_t begin = 0; begin < missing.size(); begin += batch) {
    const auto part = std::span(missing).subspan(begin, std::min(batch, missing.size() - begin));
    compute(part, features.data());
    for (std::size_t i = 0; i < part.size(); ++i) {
      cache_->put(key(*part[i]), {features.data() + i * elements(), elements()});
    }
    filled.computed += static_cast<std::int64_t>(part.size());
    done += static_cast<std::int64_t>(part.size());
    if (!progress(done)) {
      cache_->flush();
      return false;
    }
  }
  cache_->flush();
  return true;
}

void FeatureSource::write_target(std::int64_t sample, float* target) {
  const data::MixedSample& s = samples_[static_cast<std::size_t>(sample)];
  const bool taught = teacher_.soft != nullptr && teacher_.soft->has(sample);
  const auto labels = static_cast<float>(taught ? 1 - teacher_.share : 1);
  for (const auto c : s.labels) {
    if (c < classes_) target[c] = labels / static_cast<float>(s.labels.size());
  }
  if (!taught) return;
  soft_.resize(teacher_.soft->classes());
  teacher_.soft->read(sample, soft_);
  for (std::size_t c = 0; c < soft_.size(); ++c)
    target[c] += static_cast<float>(teacher_.share) * soft_[c];
}

void FeatureSource::read(std::span<const std::int64_t> samples, float* inputs, float* targets) {
  batch_.clear();
  std::fill_n(targets, samples.size() * classes_, 0.0F);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    write_target(samples[i], targets + i * classes_);
    batch_.push_back(&samples_[static_cast<std::size_t>(samples[i])]);
  }
  reader_.read(batch_, inputs);
}

}  // namespace moil::night
