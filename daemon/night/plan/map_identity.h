// By what the cache of feature maps knows those of a backbone: the same for a night and for a look
// by day, so that each finds what the other has computed.
#pragma once

#include <map>
#include <string>

#include "daemon/night/maps/backbone.h"
#include "daemon/night/plan/kernel_profile.h"
#include "daemon/spec/job_spec.h"
#include "datasets/kinds/kind.h"
#include "featurecache/cache.h"

namespace moil::night {

struct MapIdentity {
  cache::ModelId id;
  std::string description;
};

// split: the value that the maps are of.
[[nodiscard]] MapIdentity map_identity(Backbone& backbone, const std::string& split,
                                       daemon::StoredFloats dtype, const data::Kind& kind);

// The backbone's answer, known from before or computed; by its arithmetic. For the profile.
[[nodiscard]] std::map<std::string, std::string> answer_by_arithmetic(Backbone& backbone,
                                                                      const KernelProfile& known);

[[nodiscard]] inline cache::StoredType stored_type(daemon::StoredFloats dtype) {
  return dtype == daemon::StoredFloats::kBf16 ? cache::StoredType::kBf16 : cache::StoredType::kFp32;
}

}  // namespace moil::night
