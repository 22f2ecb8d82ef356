#include "daemon/night/feature_source.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "base/disk_full.h"
#include "engine/kernels/parallel.h"

namespace moil::night {
namespace {

constexpr int kMayFlip = 1 << 15;  // in a key's view
constexpr std::size_t kLookedUpAtOnce = 1024;
constexpr std::int64_t kSilenceEvery = 12;  // turns of a sample

cache::SampleDigest to_cache(const data::Digest& digest) { return {digest.bytes}; }

const data::SampleDataset& files_of(const Origins& origins, const data::MixedSample& sample) {
  return sample.ref.source == data::Source::kGlobal ? *origins.global_samples
                                                    : *origins.local_samples;
}

template <typename Read>
void read_sample(const data::MixedSample& sample, const Read& read) {
  try {
    read();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kNotFound || sample.ref.source != data::Source::kLocal) throw;
    throw SampleForgotten("a sample was forgotten during the night");
  }
}

// What an error says beside the sample's name.
std::string without_name(const std::string& text, const std::string& name) {
  return text.starts_with(name + ": ") ? text.substr(name.size() + 2) : text;
}

using Unreadable = FeatureReader::Unreadable;

bool is_among(const Unreadable& unreadable, const data::MixedSample* sample) {
  return std::any_of(unreadable.begin(), unreadable.end(),
                     [&](const UnreadableSample& u) { return u.sample == sample; });
}

// Views of one sample that follow each other, on average, so that one thread gets them together; no
// more than leave work for every thread.
int views_at_once(std::span<const SampleView> wanted) {
  std::size_t samples = 1;
  for (std::size_t i = 1; i < wanted.size(); ++i)
    samples += wanted[i].sample != wanted[i - 1].sample ? 1 : 0;
  const auto threads = static_cast<std::size_t>(thread_count());
  return static_cast<int>(std::max<std::size_t>(1, wanted.size() / std::max(samples, threads)));
}

// What a thread keeps between the views that it makes.
class ViewMaker {
 public:
  ViewMaker(const Origins& origins, const data::Kind& kind, bool may_flip)
      : origins_(origins), kind_(kind), maker_(kind.maker({may_flip})) {}

  // Views of one sample after each other decode it once.
  void make(const SampleView& wanted, float* out) {
    const data::MixedSample& s = *wanted.sample;
    if (decoded_ != &s) {
      release();
      read_sample(s, [&] {
        load_sample(*maker_, kind_, files_of(origins_, s), s.ref.index, origins_.room, place_);
      });
      decoded_ = &s;
    }
    maker_->make(s.digest, {wanted.view, wanted.part}, out);
  }

 private:
  // Before room is asked for: who waits for it holds none.
  void release() {
    decoded_ = nullptr;
    if (!place_) return;
    maker_->release();
    place_.reset();
  }

  const Origins& origins_;
  std::optional<DecodingRoom::Place> place_;  // outlives what is decoded in it
  const data::Kind& kind_;
  const std::unique_ptr<data::SampleMaker> maker_;
  const data::MixedSample* decoded_ = nullptr;
};

// Decodes and preprocesses in parallel; each result depends on nothing but the sample and its view.
// What each view failed with, where it did (kBadData: the others are rethrown), else empty; the row
// is zeros then.
std::vector<std::string> preprocess(const Origins& origins, const data::Kind& kind, bool may_flip,
                                    std::span<const SampleView> wanted, float* out) {
  const std::size_t floats = kind.floats();
  std::exception_ptr error;
  std::mutex mutex;
  std::vector<std::string> failures(wanted.size());
  const auto count = static_cast<std::int64_t>(wanted.size());
  const int at_once = views_at_once(wanted);
#pragma omp parallel
  {
    ViewMaker maker(origins, kind, may_flip);
    // Without a barrier, before which a thread that is done would keep its room.
#pragma omp for schedule(dynamic, at_once) nowait
    for (std::int64_t i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      try {
        maker.make(wanted[k], out + k * floats);
      } catch (const Error& e) {
        const std::lock_guard lock(mutex);
        if (e.code() == ErrorCode::kBadData) failures[k] = e.what();
        if (e.code() != ErrorCode::kBadData && !error) error = std::current_exception();
        std::fill_n(out + k * floats, floats, 0.0F);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
  return failures;
}

bool shows_means(const data::Kind& kind, const Backbone& backbone) {
  if (kind.part_training() != data::PartTraining::kMean || backbone.is_identity()) return false;
  const auto shape = backbone.feature_shape();
  return std::ranges::count_if(shape, [](std::int64_t dim) { return dim > 1; }) <= 1;
}

}  // namespace

FeatureReader::FeatureReader(const Origins& origins, data::KindPtr kind, Backbone& backbone,
                             cache::FeatureCache* cache, const cache::ModelId& model,
                             const Augmentation& augmentation)
    : origins_(origins),
      kind_(std::move(kind)),
      backbone_(backbone),
      cache_(cache),
      model_(model),
      augmentation_(augmentation),
      means_(shows_means(*kind_, backbone)) {}

cache::FeatureKey FeatureReader::key(const SampleView& wanted) const {
  const bool other = wanted.view != 0 && augmentation_.flip;
  const int view = wanted.view | (other ? kMayFlip : 0);
  return {model_, to_cache(wanted.sample->digest), static_cast<std::uint16_t>(view), wanted.part};
}

bool FeatureReader::from_pack(data::Source source) const {
  return source == data::Source::kGlobal && origins_.global_features != nullptr;
}

bool FeatureReader::shows_silence(const data::MixedSample& sample) const {
  return sample.ref.source == data::Source::kLocal && kind_->has_silence();
}

int FeatureReader::views_of(data::Source source) const {
  return from_pack(source) || !kind_->has_views() ? 1 : augmentation_.views;
}

std::size_t FeatureReader::buffer_bytes() const {
  const auto batch = static_cast<std::size_t>(backbone_.batch());
  return batch * (backbone_.input_elements() + backbone_.feature_elements()) * sizeof(float);
}

void FeatureReader::decode(std::span<const SampleView> wanted, Unreadable* unreadable) {
  inputs_.resize(static_cast<std::size_t>(backbone_.batch()) * backbone_.input_elements());
  const auto failures = preprocess(origins_, *kind_, augmentation_.flip, wanted, inputs_.data());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (failures[i].empty()) continue;
    const data::MixedSample* sample = wanted[i].sample;
    if (unreadable == nullptr)
      throw Error(ErrorCode::kIo,
                  "a sample that could be read before cannot be now: " + failures[i]);
    if (is_among(*unreadable, sample)) continue;
    const std::string name = files_of(origins_, *sample).name(sample->ref.index);
    unreadable->push_back({sample, name, without_name(failures[i], name)});
  }
}

void FeatureReader::compute(std::span<const SampleView> wanted, float* out,
                            Unreadable* unreadable) {
  const auto batch = static_cast<std::size_t>(backbone_.batch());
  backbone_.allocate();
  for (std::size_t begin = 0; begin < wanted.size(); begin += batch) {
    const auto part = wanted.subspan(begin, std::min(batch, wanted.size() - begin));
    decode(part, unreadable);
    backbone_.run(inputs_.data(), static_cast<std::int64_t>(part.size()), out + begin * elements());
  }
}

void FeatureReader::read(std::span<const SampleView> wanted, float* out, Unreadable* unreadable) {
  for (std::size_t begin = 0; begin < wanted.size();) {
    std::size_t end = begin;
    const bool packed = from_pack(wanted[begin].sample->ref.source);
    while (end < wanted.size() && from_pack(wanted[end].sample->ref.source) == packed) ++end;
    const auto run = wanted.subspan(begin, end - begin);
    float* rows = out + begin * elements();
    if (packed) {
      for (std::size_t i = 0; i < run.size(); ++i) {
        origins_.global_features->read(run[i].sample->ref.index,
                                       {rows + i * elements(), elements()});
      }
    } else if (cache_ != nullptr) {
      read_cached(run, rows, unreadable);
    } else {
      compute(run, rows, unreadable);
    }
    begin = end;
  }
}

void FeatureReader::read(std::span<const SampleView> wanted, std::span<const BatchTensor> inputs) {
  if (inputs.size() == 1) return read(wanted, inputs[0].values.data());
  rows_.resize(wanted.size() * elements());
  read(wanted, rows_.data());
  scatter(rows_.data(), wanted.size(), inputs);
}

// What the cache has no room for, or has lost since it was filled (damaged, evicted), is computed.
void FeatureReader::read_cached(std::span<const SampleView> wanted, float* out,
                                Unreadable* unreadable) {
  keys_.clear();
  for (const SampleView& w : wanted) keys_.push_back(key(w));
  found_.assign(wanted.size(), 0);
  if (cache_->find(keys_, out, elements(), found_) == wanted.size()) return;
  compute_missing(wanted, out, unreadable);
}

// Together, for the backbone takes as long for one as for a batch.
void FeatureReader::compute_missing(std::span<const SampleView> wanted, float* out,
                                    Unreadable* unreadable) {
  missing_.clear();
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!found_[i]) missing_.push_back(i);
  computed_.resize(batch() * elements());
  for (std::size_t begin = 0; begin < missing_.size(); begin += batch()) {
    const auto some =
        std::span(missing_).subspan(begin, std::min(batch(), missing_.size() - begin));
    computing_.clear();
    for (const std::size_t i : some) computing_.push_back(wanted[i]);
    compute(computing_, computed_.data(), unreadable);
    keep_computed(unreadable);
    cache::round_as_stored(cache_->stored_as(),
                           std::span(computed_).first(some.size() * elements()));
    for (std::size_t i = 0; i < some.size(); ++i)
      std::copy_n(computed_.data() + i * elements(), elements(), out + some[i] * elements());
  }
}

// A cache that takes no more, for whatever reason, is no loss: what it has not is computed.
void FeatureReader::keep_computed(const Unreadable* unreadable) {
  for (std::size_t i = 0; keeps_ && i < computing_.size(); ++i) {
    if (unreadable != nullptr && is_among(*unreadable, computing_[i].sample)) continue;
    try {
      cache_->put(key(computing_[i]), std::span(computed_).subspan(i * elements(), elements()));
    } catch (const Error&) {
      keeps_ = false;
    }
  }
}

std::int64_t FeatureReader::feature_maps(std::span<const Portion> portions) const {
  std::int64_t maps = 0;
  for (const Portion& portion : portions) {
    maps += packed(portion);
    in_parts(portion, [&](std::span<const SampleView> wanted) {
      maps += static_cast<std::int64_t>(wanted.size());
      return true;
    });
  }
  return maps;
}

std::int64_t FeatureReader::packed(const Portion& portion) const {
  return std::ranges::count_if(portion.samples,
                               [&](const data::MixedSample& s) { return from_pack(s.ref.source); });
}

FeatureReader::Turns FeatureReader::turns_of(const Portion& portion, std::size_t sample) const {
  if (portion.epochs == Portion::kEveryFace) return {0, portion.epochs, true};
  const auto begin = static_cast<std::int64_t>(sample), end = begin + portion.epochs;
  if (!shows_silence(portion.samples[sample])) return {begin, portion.epochs, false};
  const std::int64_t before = begin / kSilenceEvery, silent = end / kSilenceEvery - before;
  return {begin - before, portion.epochs - silent, silent > 0};
}

bool FeatureReader::asks_for(const Portion& portion, std::size_t sample, const SampleView& view,
                             std::uint32_t n) const {
  if (portion.plain && view.view == 0) return true;
  const Turns turns = turns_of(portion, sample);
  const std::int64_t all = faces(*view.sample);
  if (turns.count >= all) return true;
  const std::int64_t face =
      means_ ? view.view : view.view + std::int64_t{n} * views_of(view.sample->ref.source);
  return (face + all - turns.first % all) % all < turns.count;
}

bool FeatureReader::asks_for_silence(const Portion& portion, std::size_t sample) const {
  if (!shows_silence(portion.samples[sample])) return false;
  return portion.silence || (portion.epochs > 0 && turns_of(portion, sample).silence);
}

bool FeatureReader::fill(std::span<const Portion> portions, Filled& filled,
                         const std::function<bool(std::int64_t done)>& progress) {
  Filling filling{filled, progress};
  const bool finished = std::ranges::all_of(portions, [&](const Portion& portion) {
    filling.done += packed(portion);
    return in_parts(portion, [&](auto wanted) { return fill_some(wanted, filling); });
  });
  store(filled, [&] { cache_->flush(); });
  if (finished && !filled.why_uncached.empty()) {
    for (const Portion& portion : portions) filled.uncached += missing(portion, filled.unreadable);
  }
  return finished;
}

// What is not from a pack, at most about kLookedUpAtOnce views at a time.
bool FeatureReader::in_parts(const Portion& portion,
                             const std::function<bool(std::span<const SampleView>)>& work) const {
  std::vector<SampleView> wanted;
  for (std::size_t i = 0; i < portion.samples.size(); ++i) {
    const data::MixedSample& s = portion.samples[i];
    if (from_pack(s.ref.source)) continue;
    const int views = portion.epochs > 0 ? views_of(s.ref.source) : 1;
    for (std::uint32_t n = 0; n < s.shown_parts(); ++n) {
      for (int view = 0; view < views; ++view) {
        const SampleView one{&s, static_cast<std::uint16_t>(view), s.shown_part(n)};
        if (asks_for(portion, i, one, n)) wanted.push_back(one);
      }
      if (wanted.size() < kLookedUpAtOnce) continue;
      if (!work(wanted)) return false;
      wanted.clear();
    }
    if (asks_for_silence(portion, i)) wanted.push_back({&s, 0, data::kSilence});
  }
  return work(wanted);
}

std::int64_t FeatureReader::missing(const Portion& portion, const Unreadable& unreadable) {
  std::int64_t count = 0;
  in_parts(portion, [&](std::span<const SampleView> wanted) {
    keys_.clear();
    for (const SampleView& w : wanted) keys_.push_back(key(w));
    found_.assign(wanted.size(), 0);
    cache_->contains(keys_, found_);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      count += found_[i] || is_among(unreadable, wanted[i].sample) ? 0 : 1;
    return true;
  });
  return count;
}

bool FeatureReader::fill_some(std::span<const SampleView> wanted, Filling& filling) {
  keys_.clear();
  for (const SampleView& w : wanted) keys_.push_back(key(w));
  found_.assign(wanted.size(), 0);
  const auto present =
      static_cast<std::int64_t>(cache_->contains(keys_, found_, cache::Depth::kChecksum));
  filling.filled.reused += present;
  filling.done += present;
  std::vector<SampleView> missing;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!found_[i]) missing.push_back(wanted[i]);
  }
  return filling.progress(filling.done) && compute_into_cache(missing, filling);
}

bool FeatureReader::compute_into_cache(std::span<const SampleView> missing, Filling& filling) {
  const auto batch = static_cast<std::size_t>(backbone_.batch());
  std::vector<float> features(std::min(batch, missing.size()) * elements());
  for (std::size_t begin = 0; begin < missing.size(); begin += batch) {
    const auto part = missing.subspan(begin, std::min(batch, missing.size() - begin));
    filling.done += static_cast<std::int64_t>(part.size());
    if (filling.filled.why_uncached.empty()) {
      compute(part, features.data(), &filling.filled.unreadable);
      put(part, features.data(), filling);
    } else {
      decode(part, &filling.filled.unreadable);  // to know which can be read
    }
    if (!filling.progress(filling.done)) return false;
  }
  return true;
}

void FeatureReader::put(std::span<const SampleView> wanted, const float* features,
                        Filling& filling) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (is_among(filling.filled.unreadable, wanted[i].sample)) continue;
    ++filling.filled.computed;
    const std::span row(features + i * elements(), elements());
    if (!store(filling.filled, [&] { cache_->put(key(wanted[i]), row); })) return;
  }
}

// False where the cache is as full as it may be. A disk that is full beyond that is no limit of the
// cache's: everything else will meet it, too.
bool FeatureReader::store(Filled& filled, const std::function<void()>& put) {
  try {
    put();
    return true;
  } catch (const DiskFull&) {
    throw;
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kResourceExhausted) throw;
    filled.why_uncached = e.what();
    return false;
  }
}

bool FeatureReader::survey(std::span<const Portion> portions, Unreadable& unreadable,
                           const std::function<bool(std::int64_t done)>& progress) {
  std::vector<SampleView> wanted;
  std::int64_t done = 0;
  const auto read_some = [&] {
    if (!wanted.empty()) decode(wanted, &unreadable);
    wanted.clear();
    return progress(done);
  };
  for (const Portion& portion : portions) {
    for (const data::MixedSample& s : portion.samples) {
      ++done;
      if (from_pack(s.ref.source)) continue;
      wanted.push_back({&s});
      if (wanted.size() == static_cast<std::size_t>(backbone_.batch()) && !read_some())
        return false;
    }
  }
  return read_some();
}

bool FeatureReader::trains_on_means() const { return means_; }

std::int64_t FeatureReader::faces(const data::MixedSample& sample) const {
  const std::int64_t views = views_of(sample.ref.source);
  return means_ ? views : sample.shown_parts() * views;
}

// One behind the others is silence.
std::int64_t FeatureReader::face_at(const data::MixedSample& sample, std::int64_t turn) const {
  const std::int64_t count = faces(sample);
  if (!shows_silence(sample)) return turn % count;
  return turn % kSilenceEvery == kSilenceEvery - 1 ? count : (turn - turn / kSilenceEvery) % count;
}

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

// Of the part that is shown, or the mean of all.
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

// Of each of views_, the mean of its sample's parts.
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
    const std::int64_t sample = indices[i] % size();
    write_target(sample, views_.back(), {targets.row(i), targets.elements});
    if (batch.weights.empty()) continue;
    batch.weights[i] = weights_ == nullptr ? 1 : (*weights_)[static_cast<std::size_t>(sample)];
  }
  if (means_)
    read_means(batch.inputs[0]);
  else
    reader_.read(views_, batch.inputs);
}

std::vector<std::int64_t> FeatureSource::order(std::span<const std::size_t> samples,
                                               std::int64_t epoch) const {
  std::vector<std::int64_t> indices, shown(samples_.size());
  indices.reserve(samples.size());
  for (const std::size_t s : samples) {
    const auto sample = static_cast<std::int64_t>(s);
    const std::int64_t face = reader_.face_at(samples_[s], epoch + sample + shown[s]++);
    indices.push_back(sample + size() * face);
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
  reader_.read(batch_, batch.inputs);
}

}  // namespace moil::night
