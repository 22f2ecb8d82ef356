#include "daemon/client/model_desk.h"

#include <sys/mman.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/files/unique_fd.h"
#include "base/files/write_all.h"
#include "daemon/client/model_nights.h"
#include "datasets/labels/something_else.h"

namespace moil::daemon {
namespace {

constexpr int kMostAsked = 10000;

std::string model_or_only(ClientSession& session, const std::string& model) {
  return model.empty() ? only_model(session) : model;
}

Json briefly(const Json& suggestions) {
  Json brief = Json::array();
  for (const Json& sample : suggestions) {
    const Json& said = sample["proposals"];
    if (said.empty()) continue;
    brief.push_back({{"digest", sample["digest"]},
                     {"label", said[0]["label"]},
                     {"probability", said[0]["probability"]},
                     {"not_sure", sample.value("not_sure", false)},
                     {"others", other_proposals(sample)}});
  }
  return brief;
}

Json asked(ClientSession& session, const char* method, const std::string& model,
           const SoFar& so_far) {
  const auto tell = [&](const Json& notification) {
    const Json& params = notification["params"];
    so_far(params.contains("suggestions") ? Json{{"suggestions", briefly(params["suggestions"])}}
                                          : params);
  };
  return session.call(method,
                      {{"model", model_or_only(session, model)},
                       {"limit", kMostAsked},
                       {"progress", static_cast<bool>(so_far)}},
                      {}, so_far ? Client::OnNotification(tell) : nullptr);
}

UniqueFd in_memory(std::span<const char> bytes) {
  UniqueFd file(::memfd_create("sample", MFD_CLOEXEC));
  if (!file) throw system_error("cannot make a file in memory", errno);
  if (!write_all(file.get(), std::string_view(bytes.data(), bytes.size())))
    throw system_error("cannot write a file in memory", errno);
  return file;
}

}  // namespace

Json other_proposals(const Json& sample) {
  const Json& said = sample["proposals"];
  Json others = Json::array();
  if (sample.value("something_else", false) && said[0]["label"] != data::kSomethingElse)
    others.push_back(data::kSomethingElse);
  for (std::size_t i = 1; i < said.size(); ++i)
    if (others.empty() || said[i]["label"] != others[0]) others.push_back(said[i]["label"]);
  return others;
}

Json proposals(ClientSession& session, const std::string& model, const SoFar& so_far) {
  const Json reply = asked(session, "label.suggest", model, so_far);
  return {{"suggestions", briefly(reply["suggestions"])}, {"tags", reply.value("tags", false)}};
}

Json doubts(ClientSession& session, const std::string& model, const SoFar& so_far) {
  const Json reply = asked(session, "label.audit", model, so_far);
  Json doubts = Json::array();
  for (const Json& sample : reply["wrong"])
    doubts.push_back({{"digest", sample["digest"]},
                      {"name", sample.value("name", "")},
                      {"labels", sample["labels"]},
                      {"looks_like", sample["looks_like"]},
                      {"probability", sample["probability"]}});
  return {{"doubts", std::move(doubts)}};
}

Json home(ClientSession& session, const std::string& model) {
  Json found = {{"model", nullptr},
                {"why_no_model", ""},
                {"role", session.call("system.methods", Json::object())["role"]},
                {"overview", session.call("system.overview", Json::object())},
                {"nights", Json::array()}};
  try {
    found["model"] = model_or_only(session, model);
    found["nights"] = fetch_nights(session, {.model = found["model"]});
  } catch (const ReplyError&) {
    throw;
  } catch (const Error& error) {  // there is none, or there are several
    if (error.code() == ErrorCode::kIo) throw;
    found["why_no_model"] = error.what();
  }
  return found;
}

Json prediction(ClientSession& session, const std::string& model, std::span<const char> file) {
  const UniqueFd bytes = in_memory(file);
  Json params = {{"images", Json::array({Json{{"file", 0}}})}, {"top", 5}};
  if (!model.empty()) params["model"] = model;
  const std::array descriptors{bytes.get()};
  const Json reply = session.call("model.predict", params, descriptors);
  Json said = reply["predictions"][0];
  said["version"] = reply["version"];
  return said;
}

Json learn(ClientSession& session, const std::string& model) {
  return session.call("model.learn", {{"model", model_or_only(session, model)}});
}

}  // namespace moil::daemon
