#include "daemon/night/judge/anchor.h"

#include <algorithm>

#include "base/error.h"
#include "daemon/night/judge/judge.h"
#include "daemon/night/maps/head_slice.h"
#include "engine/io/fingerprint.h"
#include "engine/model/preparation.h"

namespace moil::night {
namespace {

// Layers up to the split, and what they compute with.
std::string frozen_part(const StoredModel& bundle, const Freeze& freeze) {
  const ModelDescription backbone =
      realize_slice(bundle.description, freeze.split, freeze.split_dims).backbone;
  return model_fingerprint(backbone) + " " + weights_fingerprint(bundle.weights.of(backbone)) +
         " " + bundle.kind->fingerprint();
}

bool shares_frozen_part(const StoredModel& anchor, const AnchorQuestion& q) {
  const Freeze& freeze = q.night.freeze;
  if (freeze.split.empty()) return anchor.kind->fingerprint() == q.base.kind->fingerprint();
  try {
    return frozen_part(anchor, freeze) == frozen_part(q.base, freeze);
  } catch (const Error&) {
    return false;  // it has no such layer
  }
}

// Classes are only ever added.
bool begin_with(const std::vector<std::string>& all, const std::vector<std::string>& first) {
  return first.size() <= all.size() && std::equal(first.begin(), first.end(), all.begin());
}

// Outputs mean the same.
bool has_same_outputs(const StoredModel& anchor, const AnchorQuestion& q) {
  const data::Mix& mix = q.mix;
  if (anchor.task->name() != q.base.task->name()) return false;
  if (!anchor.task->outputs_are_labels()) return anchor.labels == q.base.labels;
  return begin_with(mix.classes, anchor.labels);
}

std::optional<double> accuracy_of(const StoredModel& anchor, const AnchorQuestion& q) {
  const WeightsOfPart weights = [&](const ModelDescription& part) {
    return anchor.weights.of(part);
  };
  data::Mix held_out;
  held_out.classes = q.mix.classes;
  held_out.global_classes = q.mix.global_classes;
  held_out.global_validation = q.mix.global_validation;
  if (shares_frozen_part(anchor, q))
    return judge({head_slice(anchor.description, q.night.freeze), weights, *anchor.task}, held_out,
                 q.reader, *q.night.trainer_kernels)
        .headline_global();
  if (q.origins.global_features != nullptr)
    throw Error(ErrorCode::kFailedPrecondition,
                "the global pack holds feature maps of other frozen layers than its own");
  Backbone none(anchor.description, weights, {}, kBackboneBatch, *q.night.backbone_kernels);
  FeatureReader images(q.origins, anchor.kind, none, nullptr, {});
  return judge({anchor.description, weights, *anchor.task}, held_out, images,
               *q.night.trainer_kernels)
      .headline_global();
}

// In a handler of the error: what the device lacks is no fault of the anchor, and goes on.
void require_own_fault(const Error& error) {
  if (error.code() == ErrorCode::kIo || error.code() == ErrorCode::kResourceExhausted) throw;
}

}  // namespace

std::optional<StoredModel> anchor_behind_maps(const AnchorQuestion& question) {
  if (!std::filesystem::exists(question.folder)) return std::nullopt;
  try {
    StoredModel anchor = open_model_folder(question.folder);
    const bool answers = has_same_outputs(anchor, question) && shares_frozen_part(anchor, question);
    return answers ? std::optional(std::move(anchor)) : std::nullopt;
  } catch (const Error& error) {
    require_own_fault(error);
    return std::nullopt;
  }
}

std::size_t labels_of_anchor(const std::filesystem::path& folder, const StoredModel& base) {
  const std::size_t all = base.labels.size();
  if (!std::filesystem::exists(folder)) return all;
  try {
    const std::vector<std::string> then = open_model_folder(folder).labels;
    return begin_with(base.labels, then) ? then.size() : all;
  } catch (const Error& error) {
    require_own_fault(error);
    return all;
  }
}

Anchor judge_anchor(const AnchorQuestion& question) {
  Anchor anchor{question.version, std::nullopt, ""};
  try {
    const StoredModel bundle = open_model_folder(question.folder);
    if (!has_same_outputs(bundle, question))
      throw Error(ErrorCode::kFailedPrecondition, "its outputs are others than the model's");
    anchor.global = accuracy_of(bundle, question);
  } catch (const Error& error) {
    require_own_fault(error);
    anchor.why_not = error.what();
  }
  return anchor;
}

}  // namespace moil::night
