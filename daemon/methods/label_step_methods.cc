// label.assign, merge, undo: what changes several samples at once, and takes it back. On the
// background thread; what undo forgets elsewhere is the loop's (upkeep/forgetting.h).
#include <algorithm>

#include "daemon/methods/digest_list.h"
#include "daemon/methods/label_case.h"
#include "daemon/methods/label_steps.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/error.h"
#include "daemon/upkeep/forgetting.h"

namespace moil::daemon {
namespace {

constexpr std::size_t kMostAssigned = 10'000;

struct AssignParams {
  std::vector<std::string> samples;  // digests
  std::optional<std::string> label;
  std::vector<std::string> labels;  // several, in place of `label`
  bool as_spelled = false;
  std::string step;
};

const Fields<AssignParams>& fields_of(const AssignParams*) {
  static const Fields<AssignParams> table = {
      field("samples", &AssignParams::samples, Need::kRequired),
      field("label", &AssignParams::label, Need::kRequired),
      field("labels", &AssignParams::labels),
      field("as_spelled", &AssignParams::as_spelled),
      field("step", &AssignParams::step, Need::kOptional, check_step),
  };
  return table;
}

Json assign(const AssignParams& params, data::LabelStore& store) {
  const auto samples =
      checked_digests(params.samples, kMostAssigned, "samples", "the parameters of label.assign");
  if (params.label && !params.labels.empty())
    throw ValidationError(
        "the parameters of label.assign",
        {{"/labels", "there is a label beside them; give it as one of them, and null as label"}});
  std::vector<std::string> labels = params.labels;
  if (params.label) labels.push_back(*params.label);
  if (!labels.empty()) labels = data::checked_label_names(labels);
  check_case(store, labels, params.as_spelled);
  const std::size_t changed = store.assign(samples, labels, params.step);
  return {{"label", labels.empty() ? Json() : Json(labels.front())},
          {"labels", labels},
          {"changed", changed}};
}

struct MergeParams {
  std::string from, into;
  bool as_spelled = false;
  std::string step;
};

const Fields<MergeParams>& fields_of(const MergeParams*) {
  static const Fields<MergeParams> table = {
      field("from", &MergeParams::from, Need::kRequired),
      field("into", &MergeParams::into, Need::kRequired),
      field("as_spelled", &MergeParams::as_spelled),
      field("step", &MergeParams::step, Need::kOptional, check_step),
  };
  return table;
}

Json merge(const MergeParams& params, data::LabelStore& store) {
  check_case(store, std::span(&params.into, 1), params.as_spelled, params.from);
  const std::size_t changed = store.merge_label(params.from, params.into, params.step);
  return {{"label", data::checked_label_names(std::span(&params.into, 1)).front()},
          {"changed", changed}};
}

struct UndoParams {
  std::string step;  // empty: the last, whatever its name
  bool with_samples = false;
};

const Fields<UndoParams>& fields_of(const UndoParams*) {
  static const Fields<UndoParams> table = {
      field("step", &UndoParams::step, Need::kOptional, check_step),
      field("with_samples", &UndoParams::with_samples),
  };
  return table;
}

// As many as a client that shows samples needs to know.
Json some_of(const std::vector<data::Digest>& samples) {
  constexpr std::size_t kMost = 10'000;
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(kMost, samples.size()); ++i)
    list.push_back(samples[i].hex());
  return list;
}

void undo(const UndoParams& params, const Responder& responder, data::LabelStore& labels,
          Forgetting& forgetting) {
  const auto rows = [&labels, params] {
    try {
      const data::UndoneStep undone = labels.undo(params.step, params.with_samples);
      return Json{{"undone", undone.kind},
                  {"at", utc_text(undone.at * 1000)},
                  {"labels", undone.labels},
                  {"restored", undone.restored},
                  {"forgotten", undone.forgotten},
                  {"kept", some_of(undone.kept)},
                  {"left", undone.left}};
    } catch (const data::WouldForget& refused) {
      throw ErrorWithData(refused, {{"would_forget", refused.samples}});
    }
  };
  forgetting.start(rows, responder);
}

}  // namespace

MethodTable label_step_methods(const Parts& by) {
  return {
      {"label.assign", "0.2", Role::kLabel, "give samples a label, or none", Method::Lane::kWrite,
       by(assign)},
      {"label.merge", "0.2", Role::kLabel, "give a label's samples to another label",
       Method::Lane::kWrite, by(merge)},
      {"label.undo", "0.2", Role::kLabel, "take back the last change of labels",
       Method::Lane::kSteps, by(undo)},
  };
}

}  // namespace moil::daemon
