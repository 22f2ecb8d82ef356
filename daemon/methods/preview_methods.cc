// label.preview
#include "daemon/methods/digest_list.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/limits.h"
#include "daemon/workers/previewer.h"

namespace moil::daemon {
namespace {

struct PreviewParams {
  std::vector<std::string> digests;
  int size = 128;
};

const Fields<PreviewParams>& fields_of(const PreviewParams*) {
  static const Fields<PreviewParams> table = {
      field("digests", &PreviewParams::digests, Need::kRequired),
      field("size", &PreviewParams::size, Need::kOptional, between(16, 512)),
  };
  return table;
}

void preview(const PreviewParams& params, const Responder& responder, Previewer& previewer) {
  const auto digests =
      checked_digests(params.digests, kFilesAtOnce, "digests", "the parameters of label.preview");
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
