// label.add, list, rm, rename, relabel, forget, samples, map: all on the background thread.
#include <span>

#include "daemon/methods/cache_access.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/no_params.h"
#include "daemon/methods/sample_content.h"
#include "daemon/service/service.h"

namespace moil::data {

inline daemon::EnumNames<Split> enum_names(Split) {
  return {{Split::kTrain, "train"}, {Split::kValidation, "val"}};
}

}  // namespace moil::data

namespace moil::daemon {

using data::Digest;
using data::LabelStore;
using data::Split;

namespace {

constexpr int kMostListed = 1000;

// --- label.add ----------------------------------------------------------------------------------

struct AddParams {
  std::vector<std::string> labels;
  std::optional<Split> split;
  std::vector<SampleParams> samples;
};

const Fields<AddParams>& fields_of(const AddParams*) {
  static const Fields<AddParams> table = {
      field("labels", &AddParams::labels, Need::kRequired),
      field("split", &AddParams::split),
      field("samples", &AddParams::samples, Need::kRequired),
  };
  return table;
}

Json added_json(const data::AddedSample& added) {
  return {{"digest", added.digest.hex()}, {"split", to_string(added.split)}, {"new", added.is_new}};
}

// A sample that cannot be added does not keep the others back: adding is idempotent, so that the
// whole request can be repeated once the cause is gone.
Json add(LabelStore& store, const Call& call) {
  const auto params = read_fields<AddParams>(call.params, "the parameters of label.add");
  check_samples("samples", params.samples, call);
  const auto labels = data::checked_label_names(params.labels);
  Json samples = Json::array();
  int added = 0;
  int failed = 0;
  for (const SampleParams& sample : params.samples) {
    try {
      const auto result = store.add_sample(content_of(sample, call), labels, params.split);
      added += result.is_new ? 1 : 0;
      samples.push_back(added_json(result));
    } catch (const Error& error) {
      ++failed;
      samples.push_back(
          {{"error", {{"code", to_string(error.code())}, {"message", error.what()}}}});
    }
  }
  return {{"added", added}, {"failed", failed}, {"samples", std::move(samples)}};
}

// --- label.list ---------------------------------------------------------------------------------

Json list(const LabelStore& store, const Call& call) {
  (void)read_fields<NoParams>(call.params, "the parameters of label.list");
  Json labels = Json::array();
  for (const auto& label : store.labels()) {
    labels.push_back(
        {{"name", label.name}, {"samples", label.samples}, {"validation", label.validation}});
  }
  return {{"labels", std::move(labels)}};
}

// --- label.rm, label.rename ---------------------------------------------------------------------

struct RmParams {
  std::string label;
  bool with_samples = false;
};

struct RenameParams {
  std::string from;
  std::string to;
};

const Fields<RmParams>& fields_of(const RmParams*) {
  static const Fields<RmParams> table = {
      field("label", &RmParams::label, Need::kRequired),
      field("with_samples", &RmParams::with_samples),
  };
  return table;
}

const Fields<RenameParams>& fields_of(const RenameParams*) {
  static const Fields<RenameParams> table = {
      field("from", &RenameParams::from, Need::kRequired),
      field("to", &RenameParams::to, Need::kRequired),
  };
  return table;
}

// The feature maps of forgotten samples go with them.
void forget_features(const Service& service, std::span<const Digest> digests) {
  if (digests.empty() || !std::filesystem::exists(service.layout.cache())) return;
  auto cache = open_cache(service.layout, service.config.cache.quota_bytes);
  for (const Digest& digest : digests) cache.forget(cache::SampleDigest{digest.bytes});
}

Json rm(Service& service, const Call& call) {
  const auto params = read_fields<RmParams>(call.params, "the parameters of label.rm");
  const auto forgotten = service.labels.remove_label(params.label, params.with_samples);
  forget_features(service, forgotten);
  return {{"label", params.label}, {"forgotten", forgotten.size()}};
}

Json rename(LabelStore& store, const Call& call) {
  const auto params = read_fields<RenameParams>(call.params, "the parameters of label.rename");
  store.rename_label(params.from, params.to);
  return {{"label", params.to}};
}

// --- label.forget, label.relabel ----------------------------------------------------------------

struct ForgetParams {
  std::string digest;
};

struct RelabelParams {
  std::string digest;
  std::vector<std::string> labels;
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
      field("digest", &ForgetParams::digest, Need::kRequired, check_digest),
  };
  return table;
}

const Fields<RelabelParams>& fields_of(const RelabelParams*) {
  static const Fields<RelabelParams> table = {
      field("digest", &RelabelParams::digest, Need::kRequired, check_digest),
      field("labels", &RelabelParams::labels, Need::kRequired),
  };
  return table;
}

// Feature maps first: where that fails, the sample is still there to be forgotten again.
Json forget(Service& service, const Call& call) {
  const auto params = read_fields<ForgetParams>(call.params, "the parameters of label.forget");
  const Digest digest = Digest::from_hex(params.digest);
  forget_features(service, std::span(&digest, 1));
  service.labels.forget(digest);
  return {{"digest", digest.hex()}};
}

Json relabel(LabelStore& store, const Call& call) {
  const auto params = read_fields<RelabelParams>(call.params, "the parameters of label.relabel");
  store.relabel(Digest::from_hex(params.digest), params.labels);
  return {{"digest", params.digest}, {"labels", data::checked_label_names(params.labels)}};
}

// --- label.samples ------------------------------------------------------------------------------

struct SamplesParams {
  std::optional<std::string> label;
  std::optional<Split> split;
  std::int64_t after = 0;
  int limit = 100;
};

const Fields<SamplesParams>& fields_of(const SamplesParams*) {
  static const Fields<SamplesParams> table = {
      field("label", &SamplesParams::label),
      field("split", &SamplesParams::split),
      field("after", &SamplesParams::after),
      field("limit", &SamplesParams::limit, Need::kOptional, between(1, kMostListed)),
  };
  return table;
}

Json samples(const LabelStore& store, const Call& call) {
  const auto params = read_fields<SamplesParams>(call.params, "the parameters of label.samples");
  const data::SampleQuery query{.label = params.label,
                                .split = params.split,
                                .after_id = params.after,
                                .limit = static_cast<std::size_t>(params.limit)};
  Json list = Json::array();
  for (const auto& sample : store.samples(query)) {
    list.push_back({{"id", sample.id},
                    {"digest", sample.digest.hex()},
                    {"media_type", sample.media_type},
                    {"bytes", sample.size},
                    {"added_at", utc_text(sample.added_at * 1000)},
                    {"split", to_string(sample.split)},
                    {"labels", sample.labels}});
  }
  return {{"samples", std::move(list)}};
}

// --- label.map ----------------------------------------------------------------------------------

struct MapParams {
  std::optional<std::string> label;
  std::vector<std::string> global;
};

const Fields<MapParams>& fields_of(const MapParams*) {
  static const Fields<MapParams> table = {
      field("label", &MapParams::label),
      field("global", &MapParams::global),
  };
  return table;
}

Json map(LabelStore& store, const Call& call) {
  const auto params = read_fields<MapParams>(call.params, "the parameters of label.map");
  if (params.label) store.set_reconciliation(*params.label, params.global);
  return {{"map", store.reconciliation()}};
}

}  // namespace

MethodTable label_methods(Service& s) {
  const auto where = Method::Where::kBackground;
  LabelStore& store = s.labels;
  return {
      {"label.add", "0.1", "add samples under labels", where,
       [&store](Call& call) { return add(store, call); }, nullptr},
      {"label.list", "0.1", "labels with their numbers of samples", where,
       [&store](Call& call) { return list(store, call); }, nullptr},
      {"label.rm", "0.1", "remove a label", where, [&s](Call& call) { return rm(s, call); },
       nullptr},
      {"label.rename", "0.1", "rename a label", where,
       [&store](Call& call) { return rename(store, call); }, nullptr},
      {"label.relabel", "0.1", "replace a sample's labels", where,
       [&store](Call& call) { return relabel(store, call); }, nullptr},
      {"label.forget", "0.1", "forget a sample and its feature maps", where,
       [&s](Call& call) { return forget(s, call); }, nullptr},
      {"label.samples", "0.1", "samples in the order they were added", where,
       [&store](Call& call) { return samples(store, call); }, nullptr},
      {"label.map", "0.1", "which global labels a local label stands for", where,
       [&store](Call& call) { return map(store, call); }, nullptr},
  };
}

}  // namespace moil::daemon
