#include "daemon/night/near_duplicates.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/disk_full.h"
#include "datasets/transforms/difference_hash.h"

namespace moil::night {
namespace {

constexpr std::size_t kAtOnce = 64;  // photos between two questions whether to go on
constexpr std::size_t kBits = 64;

using Samples = std::vector<const data::MixedSample*>;
using Hashes = std::vector<std::optional<std::uint64_t>>;

// As the cache keeps a hash: a bit an element, which both types of element hold exactly.
using Bits = std::array<float, kBits>;

Bits to_bits(std::uint64_t hash) {
  Bits bits{};
  for (std::size_t i = 0; i < kBits; ++i) bits[i] = static_cast<float>(hash >> i & 1);
  return bits;
}

std::uint64_t from_bits(const float* bits) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < kBits; ++i) hash |= std::uint64_t{bits[i] != 0} << i;
  return hash;
}

class Hasher {
 public:
  Hasher(const Origins& origins, const data::Kind& kind, cache::FeatureCache* cache)
      : origins_(origins),
        kind_(kind),
        cache_(cache),
        model_(cache::model_id("difference hash 1", "")) {
    if (cache_ != nullptr) cache_->use_model(model_, "difference hashes");
  }

  void add(std::span<const data::MixedSample* const> samples, Hashes& hashes) {
    const std::size_t first = hashes.size();
    hashes.resize(first + samples.size());
    look_up(samples, std::span(hashes).subspan(first));
    const auto count = static_cast<std::int64_t>(samples.size());
#pragma omp parallel
    {
      const std::unique_ptr<data::SampleMaker> maker = kind_.maker({});
#pragma omp for schedule(dynamic)
      for (std::int64_t i = 0; i < count; ++i) {
        const auto k = static_cast<std::size_t>(i);
        if (!found_[k]) hashes[first + k] = hash_of(*samples[k], *maker);
      }
    }
    keep(samples, std::span(hashes).subspan(first));
  }

 private:
  static cache::FeatureKey key(const cache::ModelId& model, const data::MixedSample& sample) {
    return {model, {sample.digest.bytes}, 0};
  }

  void look_up(std::span<const data::MixedSample* const> samples,
               std::span<std::optional<std::uint64_t>> hashes) {
    found_.assign(samples.size(), 0);
    if (cache_ == nullptr) return;
    std::vector<cache::FeatureKey> keys;
    for (const data::MixedSample* s : samples) keys.push_back(key(model_, *s));
    std::vector<float> bits(samples.size() * kBits);
    cache_->find(keys, bits.data(), kBits, found_);
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (found_[i]) hashes[i] = from_bits(bits.data() + i * kBits);
  }

  std::optional<std::uint64_t> hash_of(const data::MixedSample& sample,
                                       data::SampleMaker& maker) const {
    std::optional<DecodingRoom::Place> place;  // outlives what is decoded in it
    std::optional<std::uint64_t> hash;
    try {
      load_sample(maker, kind_, *origins_.local_samples, sample.ref.index, origins_.room, place);
      hash = maker.likeness();
    } catch (const Error&) {  // who trains on it says so
    }
    maker.release();
    return hash;
  }

  // What a full cache does not take is computed again by another night.
  void keep(std::span<const data::MixedSample* const> samples,
            std::span<const std::optional<std::uint64_t>> hashes) {
    if (cache_ == nullptr) return;
    try {
      for (std::size_t i = 0; i < samples.size(); ++i)
        if (!found_[i] && hashes[i]) cache_->put(key(model_, *samples[i]), to_bits(*hashes[i]));
      cache_->flush();
    } catch (const DiskFull&) {
      throw;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kResourceExhausted) throw;
    }
  }

  const Origins& origins_;
  const data::Kind& kind_;
  cache::FeatureCache* cache_;
  const cache::ModelId model_;
  std::vector<std::uint8_t> found_;
};

Samples local_samples(const std::vector<data::MixedSample>& samples) {
  Samples local;
  for (const data::MixedSample& s : samples)
    if (s.ref.source == data::Source::kLocal) local.push_back(&s);
  return local;
}

std::optional<Hashes> hashes_of(const Samples& samples, Hasher& hasher,
                                const std::function<bool()>& may_go_on) {
  Hashes hashes;
  for (std::size_t begin = 0; begin < samples.size(); begin += kAtOnce) {
    if (!may_go_on()) return std::nullopt;
    hasher.add(std::span(samples).subspan(begin, std::min(kAtOnce, samples.size() - begin)),
               hashes);
  }
  return hashes;
}

bool has_alike(std::uint64_t hash, const Hashes& others) {
  return std::any_of(others.begin(), others.end(),
                     [&](const auto& other) { return other && data::look_alike(hash, *other); });
}

}  // namespace

std::string NearDuplicates::remark() const {
  if (held_out == 0) return "";
  return std::to_string(held_out) + " of " + std::to_string(of) +
         (held_out == 1 ? " photos held out looks" : " photos held out look") +
         " nearly the same as photos that were trained on: local accuracy is likely to be higher "
         "than it is on new photos";
}

std::optional<NearDuplicates> count_near_duplicates(const data::Mix& mix, const Origins& origins,
                                                    const data::Kind& kind,
                                                    cache::FeatureCache* cache,
                                                    const std::function<bool()>& may_go_on) {
  const Samples trained = local_samples(mix.train), held_out = local_samples(mix.local_validation);
  NearDuplicates found;
  found.of = held_out.size();
  if (trained.empty() || held_out.empty() || !kind.has_likeness()) return found;
  Hasher hasher(origins, kind, cache);
  const auto ours = hashes_of(held_out, hasher, may_go_on);
  const auto theirs = ours ? hashes_of(trained, hasher, may_go_on) : std::nullopt;
  if (!theirs) return std::nullopt;
  found.held_out =
      static_cast<std::size_t>(std::count_if(ours->begin(), ours->end(), [&](const auto& hash) {
        return hash && has_alike(*hash, *theirs);
      }));
  return found;
}

}  // namespace moil::night
