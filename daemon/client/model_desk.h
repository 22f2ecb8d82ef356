// What a review of labels asks of the model, whoever shows it, and what there is to say of it.
// `model`: empty if there is only one.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "daemon/client/session.h"

namespace moil::daemon {

// Gets what is known before the answer is whole: {"suggestions": [...]} as in the answer, or how
// far it is, {"stage", "done", "total"}.
using SoFar = std::function<void(const Json&)>;

// The labels that come behind the first proposal for a sample of label.suggest's reply: "something
// else" before all if it may be that.
[[nodiscard]] Json other_proposals(const Json& sample);

// What the model proposes for unlabelled samples, the most useful to label first: {"suggestions":
// [{"digest", "label", "probability", "not_sure", "others"}], "tags"}: whether a sample may have
// several labels. May take minutes.
[[nodiscard]] Json proposals(ClientSession& session, const std::string& model,
                             const SoFar& so_far = {});
// Samples whose label is likely wrong, those most likely first: {"doubts": [{"digest", "name",
// "labels", "looks_like", "probability"}]}. May take minutes.
[[nodiscard]] Json doubts(ClientSession& session, const std::string& model,
                          const SoFar& so_far = {});

// {"model": name or null, "why_no_model", "role": of this user, "overview": system.overview,
// "nights": as fetch_nights() has them (model_nights.h)}
[[nodiscard]] Json home(ClientSession& session, const std::string& model);
// As model.predict, of one file's bytes.
[[nodiscard]] Json prediction(ClientSession& session, const std::string& model,
                              std::span<const char> file);
// As model.learn.
[[nodiscard]] Json learn(ClientSession& session, const std::string& model);

}  // namespace moil::daemon
