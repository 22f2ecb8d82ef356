// label.relabel, forget, samples, content: all on the background thread; what forget leaves
// elsewhere is the loop's (upkeep/forgetting.h).
#include <algorithm>

#include "daemon/json/base64.h"
#include "daemon/methods/digest_list.h"
#include "daemon/methods/label_case.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/split_names.h"
#include "daemon/rpc/page.h"
#include "daemon/upkeep/forgetting.h"

namespace moil::daemon {

using data::Digest;
using data::LabelStore;
using data::Split;

namespace {

// --- label.forget, label.relabel ----------------------------------------------------------------

constexpr std::size_t kMostForgotten = 1000;  // others of the store wait meanwhile

struct ForgetParams {
  std::string digest;
  std::vector<std::string> digests;  // several, in place of `digest`
};

struct RelabelParams {
  std::string digest;
  std::vector<std::string> labels;
  bool as_spelled = false;
};

std::optional<std::string> check_digest(const std::string& text) {
  try {
    (void)Digest::from_hex(text);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

const Fields<ForgetParams>& fields_of(const ForgetParams*) {
  static const Fields<ForgetParams> table = {
      field("digest", &ForgetParams::digest, Need::kOptional, check_digest),
      field("digests", &ForgetParams::digests),
  };
  return table;
}

const Fields<RelabelParams>& fields_of(const RelabelParams*) {
  static const Fields<RelabelParams> table = {
      field("digest", &RelabelParams::digest, Need::kRequired, check_digest),
      field("labels", &RelabelParams::labels, Need::kRequired),
      field("as_spelled", &RelabelParams::as_spelled),
  };
  return table;
}

void forget(const ForgetParams& params, const Responder& responder, LabelStore& labels,
            Forgetting& forgetting) {
  const std::string what = "the parameters of label.forget";
  const bool is_one = !params.digest.empty();
  if (is_one && !params.digests.empty())
    throw ValidationError(what,
                          {{"/digests", "there is a digest beside them; give it as one of them"}});
  const std::vector<Digest> digests =
      is_one ? std::vector{Digest::from_hex(params.digest)}
             : checked_digests(params.digests, kMostForgotten, "digests", what);
  Json reply = {{"forgotten", digests.size()}};
  if (is_one) reply["digest"] = digests[0].hex();
  forgetting.start(
      [&labels, digests, reply] {
        labels.forget(digests);
        return reply;
      },
      responder);
}

Json relabel(const RelabelParams& params, LabelStore& store) {
  check_case(store, params.labels, params.as_spelled);
  store.relabel(Digest::from_hex(params.digest), params.labels);
  return {{"digest", params.digest}, {"labels", data::checked_label_names(params.labels)}};
}

// --- label.samples ------------------------------------------------------------------------------

struct SamplesParams {
  std::optional<std::string> label;
  std::optional<Split> split;
  std::optional<bool> unlabelled;
  std::int64_t after = 0;
  int limit = 100;
};

const Fields<SamplesParams>& fields_of(const SamplesParams*) {
  static const Fields<SamplesParams> table = {
      field("label", &SamplesParams::label),
      field("split", &SamplesParams::split),
      field("unlabelled", &SamplesParams::unlabelled),
      field("after", &SamplesParams::after),
      field("limit", &SamplesParams::limit, Need::kOptional, between(1, kMostListed)),
  };
  return table;
}

Json samples(const SamplesParams& params, const LabelStore& store) {
  // One more than is asked for, to know whether there are more.
  data::SampleQuery query{.label = params.label,
                          .split = params.split,
                          .labelled = {},
                          .after_id = params.after,
                          .limit = static_cast<std::size_t>(params.limit) + 1};
  if (params.unlabelled) query.labelled = !*params.unlabelled;
  Page page(static_cast<std::size_t>(params.limit));
  for (const auto& sample : store.samples(query)) {
    const bool fits = page.add({{"id", sample.id},
                                {"digest", sample.digest.hex()},
                                {"name", sample.name},
                                {"media_type", sample.media_type},
                                {"bytes", sample.size},
                                {"added_at", utc_text(sample.added_at * 1000)},
                                {"split", to_string(sample.split)},
                                {"scene", sample.scene == 0 ? Json() : Json(sample.scene)},
                                {"labels", sample.labels}},
                               {{"after", sample.id}});
    if (!fits) break;
  }
  return std::move(page).finish("samples");
}

// --- label.content ------------------------------------------------------------------------------

struct ContentParams {
  std::string digest;
  std::int64_t offset = 0;
};

const Fields<ContentParams>& fields_of(const ContentParams*) {
  static const Fields<ContentParams> table = {
      field("digest", &ContentParams::digest, Need::kRequired, check_digest),
      field("offset", &ContentParams::offset, Need::kOptional,
            between(std::int64_t{0}, static_cast<std::int64_t>(data::kMaxSampleBytes))),
  };
  return table;
}

Json content(const ContentParams& params, const LabelStore& store) {
  constexpr std::size_t kMostBytes = 192 << 10;
  const auto bytes = store.content(Digest::from_hex(params.digest));
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto from = std::min(static_cast<std::size_t>(params.offset), all.size());
  return {{"content", encode_base64(all.substr(from, kMostBytes))}, {"bytes", bytes.size()}};
}

}  // namespace

MethodTable label_sample_methods(const Parts& by) {
  using Lane = Method::Lane;
  return {
      {"label.relabel", "0.1", Role::kLabel, "replace a sample's labels", Lane::kWrite,
       by(relabel)},
      {"label.forget", "0.1", Role::kLabel, "forget samples and all that was made of them",
       Lane::kSteps, by(forget)},
      {"label.samples", "0.1", Role::kRead, "samples in the order they were added", Lane::kRead,
       by(samples)},
      {"label.content", "0.2", Role::kRead, "what a sample's file holds", Lane::kRead, by(content)},
  };
}

}  // namespace moil::daemon
