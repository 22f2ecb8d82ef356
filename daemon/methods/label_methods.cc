// label.list, rm, rename, map: all on the background thread; what rm leaves elsewhere is the loop's
// (upkeep/forgetting.h).
#include <limits>
#include <set>
#include <span>

#include "base/files/file.h"
#include "daemon/json/nearest.h"
#include "daemon/loop/background.h"
#include "daemon/methods/label_case.h"
#include "daemon/methods/label_steps.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/dispatcher.h"
#include "daemon/rpc/page.h"
#include "daemon/state/model_store.h"
#include "daemon/upkeep/forgetting.h"
#include "datasets/labels/text.h"

namespace moil::daemon {

using data::LabelStore;

namespace {

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

Json list_labels(const LabelListParams& params, const LabelStore& store) {
  Page page(static_cast<std::size_t>(params.limit));
  store.for_each_label(params.after, [&](const data::LabelCount& label) {
    return page.add(
        {{"name", label.name}, {"samples", label.samples}, {"validation", label.validation}},
        {{"after", label.name}});
  });
  Json reply = std::move(page).finish("labels");
  const data::StoreCounts counts = store.counts();
  reply["unlabelled"] = counts.unlabelled;
  reply["samples"] = counts.samples;
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
  bool as_spelled = false;
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
      field("as_spelled", &RenameParams::as_spelled),
  };
  return table;
}

// A version's classes, as its folder has them; none if they cannot be read.
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

void remove_label(const RmParams& params, const Responder& responder, LabelStore& labels,
                  const ModelStore& models, const StateLayout& layout, Forgetting& forgetting) {
  const auto rows = [&labels, &layout, params, versions = models.list()] {
    const auto forgotten = labels.remove_label(params.label, params.with_samples, params.step);
    return Json{{"label", params.label},
                {"forgotten", forgotten.size()},
                {"named_in", named_in(layout, versions, params.label)}};
  };
  forgetting.start(rows, responder);
}

Json rename(const RenameParams& params, LabelStore& store) {
  check_case(store, std::span(&params.to, 1), params.as_spelled, params.from);
  store.rename_label(params.from, params.to);
  return {{"label", data::checked_label_names(std::span(&params.to, 1)).front()}};
}

// --- label.map ----------------------------------------------------------------------------------

struct MapParams {
  std::optional<std::string> label;
  std::vector<std::string> global;
  bool as_spelled = false;
  std::string after;
};

const Fields<MapParams>& fields_of(const MapParams*) {
  static const Fields<MapParams> table = {
      field("label", &MapParams::label),
      field("global", &MapParams::global),
      field("as_spelled", &MapParams::as_spelled),
      field("after", &MapParams::after),
  };
  return table;
}

// What a label may be mapped to: labels of a model. None if there is no model yet.
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

Json mapped(LabelStore& store, const MapParams& params) {
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

void map(const MapParams& params, const Responder& responder, LabelStore& labels,
         const ModelStore& models, const StateLayout& layout, Background& background) {
  answer_in_background(background, responder, [&labels, &layout, params, versions = models.list()] {
    if (params.label) check_case(labels, std::span(&*params.label, 1), params.as_spelled);
    if (!params.global.empty()) check_known(params.global, labels_of(layout, versions));
    return mapped(labels, params);
  });
}

}  // namespace

MethodTable label_methods(const Parts& by) {
  using Lane = Method::Lane;
  return {
      {"label.list", "0.1", Role::kRead, "labels with their numbers of samples", Lane::kRead,
       by(list_labels)},
      {"label.rm", "0.1", Role::kLabel, "remove a label", Lane::kSteps, by(remove_label)},
      {"label.rename", "0.1", Role::kLabel, "rename a label", Lane::kWrite, by(rename)},
      {"label.map", "0.1", Role::kLabel, "which global labels a local label stands for",
       Lane::kSteps, by(map)},
  };
}

}  // namespace moil::daemon
