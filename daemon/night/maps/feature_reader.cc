#include "daemon/night/maps/feature_reader.h"

#include <algorithm>

#include "base/files/disk_full.h"
#include "daemon/night/maps/view_making.h"

namespace moil::night {
namespace {

constexpr int kMayFlip = 1 << 15;  // in a key's view
constexpr std::size_t kLookedUpAtOnce = 1024;
constexpr std::int64_t kSilenceEvery = 12;  // turns of a sample

cache::SampleDigest to_cache(const data::Digest& digest) { return {digest.bytes}; }

// What an error says beside the sample's name.
std::string without_name(const std::string& text, const std::string& name) {
  return text.starts_with(name + ": ") ? text.substr(name.size() + 2) : text;
}

bool is_among(const UnreadableSamples& unreadable, const data::MixedSample* sample) {
  return std::any_of(unreadable.begin(), unreadable.end(),
                     [&](const UnreadableSample& u) { return u.sample == sample; });
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
  return !sample.is_global() && kind_->has_silence();
}

int FeatureReader::views_of(data::Source source) const {
  return from_pack(source) || !kind_->has_views() ? 1 : augmentation_.views;
}

std::size_t FeatureReader::buffer_bytes() const {
  const auto batch = static_cast<std::size_t>(backbone_.batch());
  return batch * (backbone_.input_elements() + backbone_.feature_elements()) * sizeof(float);
}

void FeatureReader::decode(std::span<const SampleView> wanted, UnreadableSamples* unreadable) {
  inputs_.resize(static_cast<std::size_t>(backbone_.batch()) * backbone_.input_elements());
  const auto failures = make_views(origins_, *kind_, augmentation_.flip, wanted, inputs_.data());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (failures[i].empty()) continue;
    const data::MixedSample* sample = wanted[i].sample;
    if (unreadable == nullptr)
      throw Error(ErrorCode::kIo,
                  "a sample that could be read before cannot be now: " + failures[i]);
    if (is_among(*unreadable, sample)) continue;
    const std::string name = files_of(origins_, sample->ref.source)->name(sample->ref.index);
    unreadable->push_back({sample, name, without_name(failures[i], name)});
  }
}

void FeatureReader::compute(std::span<const SampleView> wanted, float* out,
                            UnreadableSamples* unreadable) {
  const auto batch = static_cast<std::size_t>(backbone_.batch());
  backbone_.allocate();
  for (std::size_t begin = 0; begin < wanted.size(); begin += batch) {
    const auto part = wanted.subspan(begin, std::min(batch, wanted.size() - begin));
    decode(part, unreadable);
    backbone_.run(inputs_.data(), static_cast<std::int64_t>(part.size()), out + begin * elements());
  }
}

void FeatureReader::show(
    std::span<const SampleView> wanted,
    const std::function<void(std::size_t i, std::span<const float> shown)>& each) {
  const std::size_t elements = backbone_.input_elements();
  for (std::size_t begin = 0; begin < wanted.size(); begin += batch()) {
    const auto some = wanted.subspan(begin, std::min(batch(), wanted.size() - begin));
    decode(some, nullptr);
    for (std::size_t i = 0; i < some.size(); ++i)
      each(begin + i, std::span(inputs_).subspan(i * elements, elements));
  }
}

void FeatureReader::read(std::span<const SampleView> wanted, float* out,
                         UnreadableSamples* unreadable) {
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
  if (inputs.size() == 1) {
    read(wanted, inputs[0].values.data());
    return to_numbers(inputs[0], wanted.size());
  }
  rows_.resize(wanted.size() * elements());
  read(wanted, rows_.data());
  scatter(rows_.data(), wanted.size(), inputs);
}

// What the cache has no room for, or has lost since it was filled (damaged, evicted), is computed.
void FeatureReader::read_cached(std::span<const SampleView> wanted, float* out,
                                UnreadableSamples* unreadable) {
  keys_.clear();
  for (const SampleView& w : wanted) keys_.push_back(key(w));
  found_.assign(wanted.size(), 0);
  if (cache_->find(keys_, out, elements(), found_) == wanted.size()) return;
  compute_missing(wanted, out, unreadable);
}

// Together, for the backbone takes as long for one as for a batch.
void FeatureReader::compute_missing(std::span<const SampleView> wanted, float* out,
                                    UnreadableSamples* unreadable) {
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
void FeatureReader::keep_computed(const UnreadableSamples* unreadable) {
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

std::int64_t FeatureReader::missing(const Portion& portion, const UnreadableSamples& unreadable) {
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

// False if the cache is as full as it may be. A disk that is full beyond that is no limit of the
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

bool FeatureReader::survey(std::span<const Portion> portions, UnreadableSamples& unreadable,
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

}  // namespace moil::night
