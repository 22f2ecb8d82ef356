// label.preview
#include "daemon/methods/methods.h"
#include "daemon/service/service.h"

namespace moil::daemon {
namespace {

// As many descriptors as a worker may inherit at once.
constexpr std::size_t kMostPreviews = 50;

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

// As "/digests/N" of the parameters.
std::vector<data::Digest> checked_digests(const std::vector<std::string>& texts) {
  FieldErrors errors;
  if (texts.empty() || texts.size() > kMostPreviews)
    errors.push_back({"/digests", "expected 1 to " + std::to_string(kMostPreviews) +
                                      " digests, found " + std::to_string(texts.size())});
  std::vector<data::Digest> digests;
  for (std::size_t i = 0; i < texts.size() && errors.empty(); ++i) {
    try {
      digests.push_back(data::Digest::from_hex(texts[i]));
    } catch (const Error& error) {
      errors.push_back({"/digests/" + std::to_string(i), error.what()});
    }
  }
  if (!errors.empty()) throw ValidationError("the parameters of label.preview", std::move(errors));
  return digests;
}

void preview(Service& service, const Call& call, const Responder& responder) {
  const auto params = read_fields<PreviewParams>(call.params, "the parameters of label.preview");
  service.previewer.start(checked_digests(params.digests), params.size, responder);
}

}  // namespace

MethodTable preview_methods(Service& s) {
  return {
      {"label.preview", "0.2", Role::kRead, "small pictures of samples", Method::Where::kDeferred,
       nullptr, [&s](Call& call, const Responder& responder) { preview(s, call, responder); }},
  };
}

}  // namespace moil::daemon
