#include "daemon/client/desk.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/error.h"
#include "datasets/labels/denial.h"

namespace moil::daemon {
namespace {

constexpr int kPage = 1000;                  // samples, the most that moild gives at once
constexpr std::size_t kMostAssigned = 5000;  // at once

Json changed_json(const std::map<std::string, std::vector<std::string>>& samples) {
  Json changed = Json::array();
  for (const auto& [digest, labels] : samples)
    changed.push_back({{"digest", digest}, {"labels", labels}});
  return {{"changed", std::move(changed)}};
}

}  // namespace

Desk::Desk(ClientSession& session)
    : session_(session),
      name_(std::to_string(::getpid()) + "." + std::to_string(::time(nullptr))) {}

Json Desk::samples(bool unlabelled, std::int64_t after) {
  const Json reply = session_.call(
      "label.samples", {{"unlabelled", unlabelled}, {"after", after}, {"limit", kPage}});
  Json samples = Json::array();
  for (const Json& sample : reply["samples"])
    samples.push_back({{"id", sample["id"]},
                       {"digest", sample["digest"]},
                       {"name", sample["name"]},
                       {"labels", sample["labels"]}});
  take_note(samples);
  const Json next = reply.value("next", Json());
  return {{"samples", std::move(samples)}, {"next", next.is_object() ? next["after"] : Json()}};
}

void Desk::take_note(const Json& samples) {
  for (const Json& sample : samples) known_[sample["digest"]] = sample["labels"].get<Labels>();
}

Json Desk::labels() {
  const Json reply = session_.list("label.list", Json::object(), "labels");
  std::vector<Json> labels(reply["labels"].begin(), reply["labels"].end());
  std::ranges::stable_sort(labels, std::ranges::greater{},
                           [](const Json& label) { return label["samples"].get<std::int64_t>(); });
  Json names = Json::array();
  for (const Json& label : labels)
    if (!data::is_denial(label["name"].get<std::string>())) names.push_back(label["name"]);
  const auto unlabelled = reply.value("unlabelled", std::int64_t{0});
  return {{"labels", std::move(names)},
          {"unlabelled", unlabelled},
          {"labelled", reply.value("samples", unlabelled) - unlabelled}};
}

Desk::Before Desk::labels_of(const std::vector<Decision>& decisions) const {
  Before labels;
  for (const Decision& decision : decisions) {
    for (const std::string& digest : decision.digests) {
      const auto known = known_.find(digest);
      if (known == known_.end())
        throw Error(ErrorCode::kNotFound, "sample " + digest + " is not on the list");
      labels[digest] = known->second;
    }
  }
  return labels;
}

Json Desk::decide(const std::vector<Decision>& decisions) {
  Made made{labels_of(decisions), "review " + name_ + " " + std::to_string(++step_)};
  Before after;
  try {
    for (const Decision& decision : decisions) {
      const Labels now = assign(decision, made.step);
      for (const std::string& digest : decision.digests) after[digest] = known_[digest] = now;
    }
  } catch (const std::exception&) {
    if (!after.empty()) made_.push_back(std::move(made));  // what was done can be undone
    throw;
  }
  made_.push_back(std::move(made));
  return changed_json(after);
}

// The labels, as moild spells them.
Desk::Labels Desk::assign(const Decision& decision, const std::string& step) {
  Labels spelled;
  for (std::size_t at = 0; at < decision.digests.size(); at += kMostAssigned) {
    const auto from = decision.digests.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = std::min(kMostAssigned, decision.digests.size() - at);
    const std::vector<std::string> some(from, from + static_cast<std::ptrdiff_t>(count));
    spelled = session_
                  .call("label.assign", {{"samples", some},
                                         {"label", nullptr},
                                         {"labels", decision.labels},
                                         {"as_spelled", decision.as_spelled},
                                         {"step", step}})["labels"]
                  .get<Labels>();
  }
  return spelled;
}

// What is not among moild's steps any more was taken back by others, or is too long ago: null.
Json Desk::taken_back(const std::string& step) {
  try {
    return session_.call("label.undo", {{"step", step}});
  } catch (const ReplyError& error) {
    if (error.error().value(Json::json_pointer("/data/code"), "") == "failed_precondition")
      return nullptr;
    throw;
  }
}

// moild remembers what was there: its list of steps is the only one.
Json Desk::undo() {
  while (!made_.empty()) {
    const Json reply = taken_back(made_.back().step);
    Before back = std::move(made_.back().before);
    made_.pop_back();
    if (reply.is_null()) continue;
    for (const Json& kept : reply["kept"]) back.erase(kept.get<std::string>());
    for (const auto& [digest, labels] : back) known_[digest] = labels;
    return changed_json(back);
  }
  return changed_json({});
}

}  // namespace moil::daemon
