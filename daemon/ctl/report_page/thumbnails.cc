#include "daemon/ctl/report_page/thumbnails.h"

#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kPerRequest = 50;  // that the daemon takes
constexpr int kPixels = 176;             // twice what a page shows, for fine screens

std::vector<std::string> changed_samples(const Json& job) {
  std::vector<std::string> digests;
  for (const char* list : {"/result/details/changed/right", "/result/details/changed/wrong"}) {
    for (const Json& sample : at(job, list)) {
      const Json digest = at(sample, "/digest");
      if (digest.is_string()) digests.push_back(digest);
    }
  }
  return digests;
}

Thumbnail thumbnail_of(const Json& preview) {
  const Json message = at(preview, "/error/message");
  Thumbnail found{preview.value("jpeg", ""), preview.value("width", std::int64_t{0}),
                  preview.value("height", std::int64_t{0}), preview.value("name", ""),
                  message.is_string() ? cell(message) : ""};
  if (at(preview, "/error/code") == "not_found") found.why_not = "forgotten";
  return found;
}

}  // namespace

Thumbnails fetch_thumbnails(Session& session, const Json& job) {
  Thumbnails found;
  const std::vector<std::string> all = changed_samples(job);
  for (std::size_t at = 0; at < all.size(); at += kPerRequest) {
    const auto end =
        all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + kPerRequest));
    const std::vector<std::string> some(all.begin() + static_cast<std::ptrdiff_t>(at), end);
    try {
      const Json reply = session.call("label.preview", {{"digests", some}, {"size", kPixels}});
      for (const Json& preview : reply["previews"])
        found[cell(preview["digest"])] = thumbnail_of(preview);
    } catch (const ReplyError& error) {  // the page is of use without them
      const std::string why = error.error().value("message", "");
      for (const std::string& digest : some) found[digest].why_not = why;
    }
  }
  return found;
}

}  // namespace moil::daemon::ctl
