#include "daemon/worker/trial.h"

#include "base/error.h"
#include "datasets/kinds/decoding.h"
#include "datasets/kinds/sound/sound_kind.h"
#include "datasets/labels/media_type.h"
#include "datasets/sounds/sound_outline.h"

namespace moil::worker {
namespace {

constexpr const char* kCannotRead = "it cannot be read";

Json trial_of(const std::vector<std::uint8_t>& bytes) {
  if (!data::is_sound(data::media_type_of(bytes))) {
    data::check_decodes(bytes, kCannotRead);
    return Json::object();
  }
  constexpr std::size_t kSwings = 256;
  data::SoundFile sound(bytes, kCannotRead);
  return {{"silent", data::silent_share(data::outline_of(sound, kSwings, kMostShownSeconds),
                                        data::kSoundFloor)}};
}

}  // namespace

Json tried(const std::vector<ReadSample>& samples) {
  Json all = Json::array();
  for (const ReadSample& read : samples) {
    try {
      all.push_back(trial_of(read()));
    } catch (const Error& error) {
      all.push_back({{"error", {{"code", to_string(error.code())}, {"message", error.what()}}}});
    }
  }
  return all;
}

}  // namespace moil::worker
