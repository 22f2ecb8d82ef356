#include "daemon/state/lost_nights.h"

#include "base/files/file.h"
#include "base/files/unflushed.h"
#include "daemon/json/parse.h"

namespace moil::daemon {

LostNights read_lost_nights(const std::filesystem::path& file) {
  constexpr std::uint64_t kMostBytes = 1 << 16;
  try {
    const Json json = parsed_json(read_text(file, kMostBytes));
    LostNights lost;
    lost.count = json.at("nights");
    for (const auto& [name, milliseconds] : json.at("waited_milliseconds").items()) {
      const Obstacle obstacle = obstacle_of(name);
      if (obstacle != Obstacle::kNone) lost.milliseconds[obstacle] = milliseconds;
    }
    return lost;
  } catch (const std::exception&) {
    return {};
  }
}

void write_lost_nights(const std::filesystem::path& file, const LostNights& lost) {
  if (lost.count == 0) {
    std::filesystem::remove(file);
    return;
  }
  Json waited = Json::object();
  for (const auto& [obstacle, milliseconds] : lost.milliseconds)
    waited[name_of(obstacle)] = milliseconds;
  write_unflushed(file,
                  Json{{"nights", lost.count}, {"waited_milliseconds", waited}}.dump() + "\n");
}

}  // namespace moil::daemon
