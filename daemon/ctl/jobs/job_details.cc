#include "daemon/ctl/jobs/job_details.h"

namespace moil::daemon::ctl {
namespace {

Json fetched(Session& session, const Json& id, const std::string& list) {
  Json items = Json::array();
  for (Json from = 0; from.is_number();) {
    Json part = session.call("job.details", {{"id", id}, {"list", list}, {"from", from}});
    for (Json& item : part["items"]) items.push_back(std::move(item));
    from = part["next"];
  }
  return items;
}

}  // namespace

void complete_result(Session& session, Json& job) {
  Json& result = job["result"];
  if (!result.is_object() || !result.contains("lists")) return;
  const Json lists = std::move(result["lists"]);
  result.erase("lists");
  for (const auto& [list, count] : lists.items())
    result[Json::json_pointer(list)] = fetched(session, job["id"], list);
}

}  // namespace moil::daemon::ctl
