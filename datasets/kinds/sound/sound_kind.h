// The kind `sound`: recordings, as WAV, FLAC, Ogg (Vorbis, Opus) or MP3 (sounds/sound_file.h), as a
// front end shows them (sounds/front_end.h). As JSON:
//
//   {"kind": "sound", "front_end": {"type": "log_mel", ...}, "mean": 0, "std": 1, "answer": "mean",
//    "train": "patches", "floor_db": -60}
//
// A sample's parts are the patches of its recording. One that is shorter than a patch has
// kShortPlaces: all of it, in as many places of a patch, over low noise
// (sounds/sound_background.h). A part no hop of which is as loud as floor_db, against full scale,
// holds no signal. mean, std: of all numbers of the first channel; those of differences in time are
// divided alone. "answer": "mean" or "maximum" of the patches' outputs. "train": on "patches", or
// on "clips", the mean of their patches' vectors, if the trained layers read vectors. All but
// "front_end" have these defaults.
//
// A recording is decoded as its patches are asked for, from the beginning if they are not asked
// for in order; the memory of that does not grow with its length.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "datasets/kinds/kind.h"
#include "datasets/sounds/front_end.h"

namespace moil::data {

class SampleDataset;

inline constexpr double kSoundFloor = -60;

struct SoundDescription {
  FrontEndDescription front_end;
  double mean = 0, stddev = 1;
  PartAnswer answer = PartAnswer::kMean;
  PartTraining training = PartTraining::kEach;
  double floor_db = kSoundFloor;
};

// kInvalidArgument, naming the field.
[[nodiscard]] KindPtr sound_kind(const SoundDescription& description);
[[nodiscard]] KindPtr sound_kind_from_json(const nlohmann::json& fields);
[[nodiscard]] SoundDescription sound_description_from_json(const nlohmann::json& fields);

// The mean and deviation of what a front end gives in its first channel, over every patch of these
// samples; a deviation of 1 if nothing ever changes. kBadData names a sample that cannot be read.
struct Level {
  double mean = 0, stddev = 1;
};
[[nodiscard]] Level level_of(const FrontEndDescription& front_end, const SampleDataset& dataset,
                             std::span<const std::size_t> samples);

}  // namespace moil::data
