#include "daemon/client/desk.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/error.h"

namespace moil::daemon {
namespace {

constexpr int kPage = 1000;                  // samples, the most that moild gives at once
constexpr int kMostAsked = 10000;            // of the model
constexpr std::size_t kMostAssigned = 5000;  // at once

Json changed_json(const std::map<std::string, std::vector<std::string>>& samples) {
  Json changed = Json::array();
  for (const auto& [digest, labels] : samples)
    changed.push_back({{"digest", digest}, {"labels", labels}});
  return {{"changed", std::move(changed)}};
}

std::string model_or_only(ClientSession& session, const std::string& model) {
  return model.empty() ? only_model(session) : model;
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
  for (const Json& label : labels) names.push_back(label["name"]);
  return {{"labels", std::move(names)}, {"unlabelled", reply.value("unlabelled", Json(0))}};
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
    for (const auto& [digests, label] : decisions) {
      const Json spelled = assign(digests, label, made.step);
      const Labels now = spelled.is_null() ? Labels() : Labels{spelled.get<std::string>()};
      for (const std::string& digest : digests) after[digest] = known_[digest] = now;
    }
  } catch (const std::exception&) {
    if (!after.empty()) made_.push_back(std::move(made));  // what was done can be undone
    throw;
  }
  made_.push_back(std::move(made));
  return changed_json(after);
}

// The label, as moild spells it.
Json Desk::assign(const std::vector<std::string>& digests, const Json& label,
                  const std::string& step) {
  Json spelled;
  for (std::size_t at = 0; at < digests.size(); at += kMostAssigned) {
    const auto from = digests.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = std::min(kMostAssigned, digests.size() - at);
    const std::vector<std::string> some(from, from + static_cast<std::ptrdiff_t>(count));
    spelled = session_.call("label.assign",
                            {{"samples", some}, {"label", label}, {"step", step}})["label"];
  }
  return spelled;
}

// moild remembers what was there: its list of steps is the only one.
Json Desk::undo() {
  if (made_.empty()) return changed_json({});
  Json reply;
  try {
    reply = session_.call("label.undo", {{"step", made_.back().step}});
  } catch (const ReplyError&) {  // others took it back, or it is too long ago
    made_.pop_back();
    throw;
  }
  Before back = std::move(made_.back().before);
  made_.pop_back();
  for (const Json& kept : reply["kept"]) back.erase(kept.get<std::string>());
  for (const auto& [digest, labels] : back) known_[digest] = labels;
  return changed_json(back);
}

Json proposals(ClientSession& session, const std::string& model) {
  const Json reply = session.call(
      "label.suggest", {{"model", model_or_only(session, model)}, {"limit", kMostAsked}});
  Json suggestions = Json::array();
  for (const Json& sample : reply["suggestions"]) {
    const Json& said = sample["proposals"];
    if (said.empty()) continue;
    Json others = Json::array();
    for (std::size_t i = 1; i < said.size(); ++i) others.push_back(said[i]["label"]);
    suggestions.push_back({{"digest", sample["digest"]},
                           {"label", said[0]["label"]},
                           {"probability", said[0]["probability"]},
                           {"not_sure", sample.value("not_sure", false)},
                           {"others", std::move(others)}});
  }
  return {{"suggestions", std::move(suggestions)}};
}

Json doubts(ClientSession& session, const std::string& model) {
  const Json reply = session.call(
      "label.audit", {{"model", model_or_only(session, model)}, {"limit", kMostAsked}});
  Json doubts = Json::array();
  for (const Json& sample : reply["wrong"])
    doubts.push_back({{"digest", sample["digest"]},
                      {"name", sample.value("name", "")},
                      {"labels", sample["labels"]},
                      {"looks_like", sample["looks_like"]},
                      {"probability", sample["probability"]}});
  return {{"doubts", std::move(doubts)}};
}

}  // namespace moil::daemon
