#include "daemon/ctl/labels/spelling.h"

#include "base/error.h"
#include "datasets/labels/denial.h"
#include "datasets/labels/text.h"

namespace moil::daemon::ctl {

void Spelling::put(Json& label, Json& params) const {
  const std::string spelled = data::normal(label.get<std::string>());
  const std::string given = data::without_denial(spelled);
  const auto answered = meant_.find(given);
  if (answered == meant_.end()) return;
  label = data::is_denial(spelled) ? data::denial_of(answered->second) : answered->second;
  if (answered->second == given) params["as_spelled"] = true;
}

void Spelling::ask(Session& session, const std::string& given, const std::string& there) {
  const std::string words = "\"" + printable(given) + "\" differs from the label \"" +
                            printable(there) + "\" in case alone";
  const auto another =
      session.json ? std::nullopt : session.console.ask(words + ". Is it another label?");
  if (!another)
    throw Error(ErrorCode::kAlreadyExists,
                words + ": give that one, or --as-spelled if it is another label");
  meant_[given] = *another ? given : there;
}

Json Spelling::call(Session& session, const std::string& method, Json params,
                    const std::string& member, std::span<const int> files) {
  for (;;) {
    Json labels = params[member];
    if (labels.is_string()) put(labels, params);
    if (labels.is_array())
      for (Json& label : labels) put(label, params);
    params[member] = std::move(labels);
    if (as_spelled_) params["as_spelled"] = true;
    try {
      return session.call(method, params, files);
    } catch (const ReplyError& refused) {
      const Json other = refused.error().value("/data/other_case"_json_pointer, Json());
      if (!other.is_object()) throw;
      ask(session, other["given"], other["label"]);
    }
  }
}

void add_as_spelled(const cli::Command& command, bool& as_spelled) {
  command.add_flag("--as-spelled", as_spelled,
                   "a label that differs from one that is there in case alone is another one");
}

}  // namespace moil::daemon::ctl
