// A model's anchor (guard.h): who can ask it, and judging it if its accuracy is not known.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "daemon/night/judge/guard.h"
#include "daemon/night/maps/feature_source.h"
#include "daemon/night/plan/night_model.h"

namespace moil::night {

struct AnchorQuestion {
  std::int64_t version = 0;
  std::filesystem::path folder;  // of that version
  const data::Mix& mix;
  const Origins& origins;
  const StoredModel& base;  // the model before the night
  const NightModel& night;
  FeatureReader& reader;  // of the night's feature maps
};

// The anchor, if its frozen layers are those of the night and its outputs mean what the first of
// the night's mean: its head then answers through the night's feature maps. Nothing if it is gone
// or damaged, too.
[[nodiscard]] std::optional<StoredModel> anchor_behind_maps(const AnchorQuestion& question);

// How many of the base's labels the anchor in this folder knows, the first of them: nights added
// the others, and no sample of a pack is of these. All, if the anchor is gone or its labels are
// others.
[[nodiscard]] std::size_t labels_of_anchor(const std::filesystem::path& folder,
                                           const StoredModel& base);

// Through the night's feature maps if the anchor's frozen layers are those of the night; as a
// whole, from the images, if they are others. If it cannot be judged, the anchor's why_not
// says so. Takes the memory of judging, beside what the night holds.
[[nodiscard]] Anchor judge_anchor(const AnchorQuestion& question);

}  // namespace moil::night
