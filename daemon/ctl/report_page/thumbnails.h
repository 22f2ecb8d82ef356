// The photos that a report shows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

struct Thumbnail {
  std::string jpeg;  // base64; empty: there is none
  std::int64_t width = 0, height = 0;
  std::string name;     // of the sample's file
  std::string why_not;  // there is none
};

using Thumbnails = std::map<std::string, Thumbnail>;  // by digest

// For the samples whose answers the night changed, as far as moild gives them: label.preview.
[[nodiscard]] Thumbnails fetch_thumbnails(Session& session, const Json& job);

}  // namespace moil::daemon::ctl
