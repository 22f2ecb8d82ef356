// label.preview
#include "daemon/methods/digest_list.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/limits.h"
#include "daemon/workers/previewer.h"

namespace moil::daemon {
namespace {

constexpr int kMostPixels = 2048, kMostPixelsOfMany = 512;
constexpr std::size_t kFew = 4;  // that are larger fit into a reply

struct PreviewParams {
  std::vector<std::string> digests;
  int size = 128;
};

const Fields<PreviewParams>& fields_of(const PreviewParams*) {
  static const Fields<PreviewParams> table = {
      field("digests", &PreviewParams::digests, Need::kRequired),
      field("size", &PreviewParams::size, Need::kOptional, between(16, kMostPixels)),
  };
  return table;
}

void preview(const PreviewParams& params, const Responder& responder, Previewer& previewer) {
  const auto digests =
      checked_digests(params.digests, kFilesAtOnce, "digests", "the parameters of label.preview");
  if (params.size > kMostPixelsOfMany && digests.size() > kFew)
    throw ValidationError(
        "the parameters of label.preview",
        {{"/size", "expected at most " + std::to_string(kMostPixelsOfMany) + " for more than " +
                       std::to_string(kFew) + " samples, found " + std::to_string(params.size)}});
  previewer.start(digests, params.size, responder);
}

}  // namespace

MethodTable preview_methods(const Parts& by) {
  return {
      {"label.preview", "0.2", Role::kRead, "small pictures of samples", Method::Lane::kWorker,
       by(preview), std::chrono::minutes(1)},
  };
}

}  // namespace moil::daemon
