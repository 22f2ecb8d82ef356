// Photos that are held out and look nearly the same as photos that are trained on.
//
// Ten frames of one scene are ten contents, so the split puts some on either side; a model that has
// learned the scene by heart is then right about what it was to be judged by. They are counted and
// told, and nothing else changes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "daemon/night/feature_source.h"
#include "featurecache/cache.h"

namespace moil::night {

struct NearDuplicates {
  std::size_t held_out = 0;  // local photos that have one or more among those trained on
  std::size_t of = 0;        // local photos held out
  // One sentence; empty where there are none.
  [[nodiscard]] std::string remark() const;
};

// Of local photos alone, decoded within the origins' room. Hashes are kept in the cache, where
// there is one and it has room, as feature maps of their own, so that a photo is decoded for this
// once, and forgotten with all else of it. A photo that cannot be read is like no other. Nothing
// where `may_go_on` said no.
[[nodiscard]] std::optional<NearDuplicates> count_near_duplicates(
    const data::Mix& mix, const Origins& origins, const data::Kind& kind,
    cache::FeatureCache* cache, const std::function<bool()>& may_go_on);

}  // namespace moil::night
