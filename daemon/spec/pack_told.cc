#include "daemon/spec/pack_told.h"

#include <cstdint>

namespace moil::daemon {

Json pack_told(const Json& manifest, const std::string& name, const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  for (const Json& shard : manifest.at("shards")) bytes += shard.at("bytes").get<std::uint64_t>();
  return {{"name", name},
          {"path", folder.string()},
          {"kind", manifest.at("kind")},
          {"samples_are", manifest.at("preprocessing").value("kind", "image")},
          {"train", manifest.at("samples").at("train")},
          {"held_out", manifest.at("samples").at("val")},
          {"labels", manifest.at("classes").size()},
          {"targets", manifest.value("targets", "labels")},
          {"reached", manifest.value("reached", Json())},
          {"bytes", bytes}};
}

}  // namespace moil::daemon
