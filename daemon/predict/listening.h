// What a model hears in a sound while it comes: model.listen.
//
// A decision is made of every part of the sound, with the code of predictions: parts lie as close
// as is asked for, answers are joined over a third of a part (smoothed_answers.h), and the
// intervals are a timeline's. A label is heard if its probability reaches the level at which the
// wanted number of false accepts an hour is to be expected (listening_levels.h); of a version that
// knows no such level, if the model says it and is sure. A threshold takes the place of both. It is
// told when its interval begins, and again when it was not heard for longer than a part. "something
// else" is never told. What holds no signal is passed over.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/json/fields.h"

namespace moil::night {

struct ListeningWanted {
  int sound = -1;  // its descriptor
  std::string name = "the sound";
  std::optional<int> raw_rate = {};  // as data::sound_input()
  // Seconds from one decision to the next; none: 80 ms, or a twelfth of a part if that is more.
  std::optional<double> every = {};
  std::optional<double> threshold = {};  // probability; none: the model's own
  // An hour, if there is no threshold; of labels whose levels the version knows. None: the usual.
  std::optional<double> false_accepts = {};
  std::vector<std::string> labels = {};  // that are told; empty: all
};

struct HeardNow {
  double time = 0;  // seconds: where the part ends by which it was heard
  std::string label;
  float probability = 0;  // of that part
};

// Listens until the sound ends, and tells what is heard at once. The reply: "seconds" of sound,
// "events", how many there were, "levels", the probabilities from which labels were told, and
// "remark", if there is something to be said of the sound. Throws what read_model_folder and
// data::sound_input throw; kInvalidArgument if the model hears no sounds or lacks a wanted label;
// kFailedPrecondition if false accepts are asked for and the version knows no level.
[[nodiscard]] Json listen(const std::filesystem::path& model_folder, const ListeningWanted& wanted,
                          const std::function<void(const HeardNow&)>& tell);

}  // namespace moil::night
