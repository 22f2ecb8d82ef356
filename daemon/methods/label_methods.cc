// label.add, list, rm, rename, relabel, forget, samples, content, map: all on the background
// thread; what rm and forget leave elsewhere is the loop's (upkeep/forgetting.h).
#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include "base/files/file.h"
#include "daemon/json/base64.h"
#include "daemon/json/nearest.h"
#include "daemon/methods/label_steps.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/sample_content.h"
#include "daemon/methods/split_names.h"
#include "daemon/rpc/limits.h"
#include "daemon/rpc/page.h"
#include "daemon/service/service.h"
#include "datasets/labels/text.h"

namespace moil::daemon {

using data::Digest;
using data::LabelStore;
using data::Split;

namespace {

// --- label.add ----------------------------------------------------------------------------------

struct NewSample {
  std::optional<std::string> content;  // as in SampleParams
  std::optional<int> file;
  std::string name;  // of its file, as the user knows it
};

struct LabelAddParams {
  std::vector<std::string> labels;
  std::optional<Split> split;
  std::vector<NewSample> samples;
  std::string step;
};

const Fields<NewSample>& fields_of(const NewSample*) {
  static const Fields<NewSample> table = {
      field("content", &NewSample::content),
      field("file", &NewSample::file),
      field("name", &NewSample::name),
  };
  return table;
}

const Fields<LabelAddParams>& fields_of(const LabelAddParams*) {
  static const Fields<LabelAddParams> table = {
      field("labels", &LabelAddParams::labels),
      field("split", &LabelAddParams::split),
      field("samples", &LabelAddParams::samples, Need::kRequired),
      field("step", &LabelAddParams::step, Need::kOptional, check_step),
  };
  return table;
}

Json added_json(const data::AddedSample& added) {
  return {{"digest", added.digest.hex()}, {"split", to_string(added.split)}, {"new", added.is_new}};
}

// One label.add: a sample after the other, so that it holds one in memory. Files are read outside,
// for their disk may hang; each sample is added in the background, and what others ask for there
// comes in between. A sample that cannot be added does not keep the others back: adding is
// idempotent, so that the whole request can be repeated once the cause is gone.
class Adding : public std::enable_shared_from_this<Adding> {
 public:
  using Content = std::shared_ptr<const std::vector<std::uint8_t>>;

  Adding(Service& service, Call& call, Responder responder)
      : service_(service),
        params_(read_fields<LabelAddParams>(call.params, "the parameters of label.add")),
        responder_(std::move(responder)) {
    std::vector<SampleParams> sources;
    for (const NewSample& sample : params_.samples)
      sources.push_back({sample.content, sample.file});
    check_samples("samples", sources, call);
    if (!params_.labels.empty()) labels_ = data::checked_label_names(params_.labels);
    for (UniqueFd& file : call.files) files_.push_back(std::make_shared<UniqueFd>(std::move(file)));
  }

  // The next sample, or the answer after the last.
  void next() {
    if (at_ == params_.samples.size()) {
      return responder_.result(
          {{"added", added_}, {"failed", failed_}, {"samples", std::move(samples_)}});
    }
    NewSample& sample = params_.samples[at_];
    if (!sample.file) {
      auto bytes = decode_base64(std::exchange(sample.content, {}).value()).value();
      return add(std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes)));
    }
    if (hung_) return fail(ErrorCode::kIo, "not read, because the one before it hangs");
    read(files_[static_cast<std::size_t>(*sample.file)]);
  }

 private:
  void read(const std::shared_ptr<UniqueFd>& file) {
    const auto self = shared_from_this();
    service_.outside.start<Content>(
        [file]() -> Content {
          return std::make_shared<const std::vector<std::uint8_t>>(
              read_descriptor(file->get(), data::kMaxSampleBytes));
        },
        [self](const Content& content) { self->add(content); },
        [self](const std::exception_ptr& error) { self->not_read(error); }, responder_.user());
  }

  void not_read(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const GaveUp& e) {
      hung_ = true;
      fail(e.code(), e.what());
    } catch (const Error& e) {
      fail(e.code(), e.what());
    } catch (const std::exception& e) {
      fail(ErrorCode::kInternal, e.what());
    }
  }

  void add(const Content& content) {
    const auto self = shared_from_this();
    service_.background.submit([self, content]() -> Background::Done {
      try {
        const auto result = self->service_.labels.add_sample(
            *content, self->labels_, self->params_.split, self->params_.samples[self->at_].name,
            self->params_.step);
        return [self, result] { self->added(result); };
      } catch (const Error& error) {
        const Json digest = data::digest_of(*content).hex();
        return [self, error, digest] { self->fail(error.code(), error.what(), digest); };
      } catch (const std::exception& error) {
        const std::string text = error.what();
        return [self, text] { self->fail(ErrorCode::kInternal, text); };
      }
    });
  }

  void added(const data::AddedSample& result) {
    added_ += result.is_new ? 1 : 0;
    done(added_json(result));
  }

  // `digest`: of what could be read.
  void fail(ErrorCode code, const std::string& message, const Json& digest = nullptr) {
    ++failed_;
    Json sample{{"error", {{"code", to_string(code)}, {"message", message}}}};
    if (!digest.is_null()) sample["digest"] = digest;
    done(std::move(sample));
  }

  void done(Json sample) {
    samples_.push_back(std::move(sample));
    ++at_;
    service_.loop.post([self = shared_from_this()] { self->next(); });
  }

  Service& service_;
  LabelAddParams params_;
  std::vector<std::shared_ptr<UniqueFd>> files_;  // shared with the threads that read them
  std::vector<std::string> labels_;
  const Responder responder_;
  std::size_t at_ = 0;
  bool hung_ = false;
  int added_ = 0;
  int failed_ = 0;
  Json samples_ = Json::array();
};

void add(Service& service, Call& call, const Responder& responder) {
  std::make_shared<Adding>(service, call, responder)->next();
}

// --- label.list ---------------------------------------------------------------------------------

struct LabelListParams {
  std::string after;
  int limit = kMostListed;
};

const Fields<LabelListParams>& fields_of(const LabelListParams*) {
  static const Fields<LabelListParams> table = {
      field("after", &LabelListParams::after),
      field("limit", &LabelListParams::limit, Need::kOptional, between(1, kMostListed)),
  };
  return table;
}

Json list_labels(const LabelStore& store, const Call& call) {
  const auto params = read_fields<LabelListParams>(call.params, "the parameters of label.list");
  Page page(static_cast<std::size_t>(params.limit));
  store.for_each_label(params.after, [&](const data::LabelCount& label) {
    return page.add(
        {{"name", label.name}, {"samples", label.samples}, {"validation", label.validation}},
        {{"after", label.name}});
  });
  Json reply = std::move(page).finish("labels");
  reply["unlabelled"] = store.counts().unlabelled;
  return reply;
}

// --- label.rm, label.rename ---------------------------------------------------------------------

struct RmParams {
  std::string label;
  bool with_samples = false;
  std::string step;
};

struct RenameParams {
  std::string from;
  std::string to;
};

const Fields<RmParams>& fields_of(const RmParams*) {
  static const Fields<RmParams> table = {
      field("label", &RmParams::label, Need::kRequired),
      field("with_samples", &RmParams::with_samples),
      field("step", &RmParams::step, Need::kOptional, check_step),
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

// A version's classes, as its folder has them; none where they cannot be read.
std::vector<std::string> classes_of(const StateLayout& layout, const ModelVersion& version) {
  try {
    const auto file = layout.version(version.model, version.version) / "labels.json";
    return parsed_json(read_text(file)).get<std::vector<std::string>>();
  } catch (const std::exception&) {
    return {};
  }
}

// Versions that have a class of this name: they say it wherever they are used.
Json named_in(const StateLayout& layout, const std::vector<ModelVersion>& versions,
              const std::string& label) {
  Json list = Json::array();
  for (const ModelVersion& v : versions) {
    for (const std::string& name : classes_of(layout, v)) {
      if (data::normal(name) != data::normal(label)) continue;
      list.push_back({{"model", v.model}, {"version", v.version}, {"active", v.active}});
      break;
    }
  }
  return list;
}

void remove_label(Service& service, const Call& call, const Responder& responder) {
  const auto params = read_fields<RmParams>(call.params, "the parameters of label.rm");
  const auto rows = [&service, params, versions = service.models.list()] {
    const auto forgotten =
        service.labels.remove_label(params.label, params.with_samples, params.step);
    return Json{{"label", params.label},
                {"forgotten", forgotten.size()},
                {"named_in", named_in(service.layout, versions, params.label)}};
  };
  service.forgetting.start(rows, responder);
}

Json rename(LabelStore& store, const Call& call) {
  const auto params = read_fields<RenameParams>(call.params, "the parameters of label.rename");
  store.rename_label(params.from, params.to);
  return {{"label", data::checked_label_names(std::span(&params.to, 1)).front()}};
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

void forget(Service& service, const Call& call, const Responder& responder) {
  const auto params = read_fields<ForgetParams>(call.params, "the parameters of label.forget");
  const Digest digest = Digest::from_hex(params.digest);
  const auto rows = [&service, digest] {
    service.labels.forget(digest);
    return Json{{"digest", digest.hex()}};
  };
  service.forgetting.start(rows, responder);
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

Json samples(const LabelStore& store, const Call& call) {
  const auto params = read_fields<SamplesParams>(call.params, "the parameters of label.samples");
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

Json content(const LabelStore& store, const Call& call) {
  constexpr std::size_t kMostBytes = 192 << 10;
  const auto params = read_fields<ContentParams>(call.params, "the parameters of label.content");
  const auto bytes = store.content(Digest::from_hex(params.digest));
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto from = std::min(static_cast<std::size_t>(params.offset), all.size());
  return {{"content", encode_base64(all.substr(from, kMostBytes))}, {"bytes", bytes.size()}};
}

// --- label.map ----------------------------------------------------------------------------------

struct MapParams {
  std::optional<std::string> label;
  std::vector<std::string> global;
  std::string after;
};

const Fields<MapParams>& fields_of(const MapParams*) {
  static const Fields<MapParams> table = {
      field("label", &MapParams::label),
      field("global", &MapParams::global),
      field("after", &MapParams::after),
  };
  return table;
}

// What a label may be mapped to: labels of a model. None where there is no model yet.
std::vector<std::string> labels_of(const StateLayout& layout,
                                   const std::vector<ModelVersion>& versions) {
  std::vector<std::string> labels;
  for (const ModelVersion& version : versions)
    for (std::string& name : classes_of(layout, version)) labels.push_back(std::move(name));
  return labels;
}

void check_known(const std::vector<std::string>& global, const std::vector<std::string>& known) {
  if (known.empty()) return;
  std::set<std::string> names;
  for (const std::string& name : known) names.insert(data::normal(name));
  FieldErrors errors;
  for (std::size_t i = 0; i < global.size(); ++i) {
    if (names.contains(data::normal(global[i]))) continue;
    const std::string near = nearest(global[i], known);
    errors.push_back({"/global/" + std::to_string(i),
                      "no model has a label \"" + global[i] + "\"" +
                          (near.empty() ? "; \"moilctl label map --suggest\" proposes some"
                                        : "; did you mean \"" + near + "\"?")});
  }
  if (!errors.empty()) throw ValidationError("the parameters of label.map", std::move(errors));
}

Json map(LabelStore& store, const MapParams& params) {
  if (params.label) store.set_reconciliation(*params.label, params.global);
  Page page(std::numeric_limits<std::size_t>::max());
  const auto whole = store.reconciliation();
  for (auto entry = whole.upper_bound(params.after); entry != whole.end(); ++entry) {
    if (!page.add({entry->first, entry->second}, {{"after", entry->first}})) break;
  }
  Json reply = std::move(page).finish("map");
  Json map = Json::object();
  for (const Json& entry : reply["map"]) map[entry[0].get<std::string>()] = entry[1];
  reply["map"] = std::move(map);
  return reply;
}

void map(Service& service, const Call& call, const Responder& responder) {
  const auto params = read_fields<MapParams>(call.params, "the parameters of label.map");
  answer_in_background(service.background, responder,
                       [&service, params, versions = service.models.list()] {
                         if (!params.global.empty())
                           check_known(params.global, labels_of(service.layout, versions));
                         return map(service.labels, params);
                       });
}

}  // namespace

MethodTable label_methods(Service& s) {
  using Lane = Method::Lane;
  LabelStore& store = s.labels;
  const LabelStore& reader = s.label_reader;
  return {
      {"label.add", "0.1", Role::kLabel, "add samples under labels", Lane::kSteps, nullptr,
       [&s](Call& call, const Responder& responder) { add(s, call, responder); },
       std::chrono::seconds(0), kMostFiles},
      {"label.list", "0.1", Role::kRead, "labels with their numbers of samples", Lane::kRead,
       [&reader](Call& call) { return list_labels(reader, call); }, nullptr},
      {"label.rm", "0.1", Role::kLabel, "remove a label", Lane::kSteps, nullptr,
       [&s](Call& call, const Responder& responder) { remove_label(s, call, responder); }},
      {"label.rename", "0.1", Role::kLabel, "rename a label", Lane::kWrite,
       [&store](Call& call) { return rename(store, call); }, nullptr},
      {"label.relabel", "0.1", Role::kLabel, "replace a sample's labels", Lane::kWrite,
       [&store](Call& call) { return relabel(store, call); }, nullptr},
      {"label.forget", "0.1", Role::kLabel, "forget a sample and all that was made of it",
       Lane::kSteps, nullptr,
       [&s](Call& call, const Responder& responder) { forget(s, call, responder); }},
      {"label.samples", "0.1", Role::kRead, "samples in the order they were added", Lane::kRead,
       [&reader](Call& call) { return samples(reader, call); }, nullptr},
      {"label.content", "0.2", Role::kRead, "what a sample's file holds", Lane::kRead,
       [&reader](Call& call) { return content(reader, call); }, nullptr},
      {"label.map", "0.1", Role::kLabel, "which global labels a local label stands for",
       Lane::kSteps, nullptr,
       [&s](Call& call, const Responder& responder) { map(s, call, responder); }},
  };
}

}  // namespace moil::daemon
