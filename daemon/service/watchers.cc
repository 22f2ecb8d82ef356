#include "daemon/service/watchers.h"

#include "daemon/rpc/dispatcher.h"

namespace moil::daemon {
namespace {

std::string event_line(std::int64_t job, const JobEvent& event) {
  Json params = to_json(event);
  params["job"] = job;
  return notification("job.event", params);
}

std::string progress_line(std::int64_t job, const Json& body) {
  return notification("job.event", {{"job", job}, {"event", body}});
}

}  // namespace

Json Watchers::begin(const std::weak_ptr<Connection>& client, const Job& job, std::int64_t since) {
  Json list = Json::array();
  std::int64_t seen = since;
  for (const JobEvent& event : jobs_.events(job.id, since)) {
    list.push_back(to_json(event));
    seen = event.seq;
  }
  std::erase_if(watches_, [&](const Watch& w) {
    return w.job == job.id && w.client.lock() == client.lock();
  });
  if (!is_finished(job.state)) watches_.push_back({client, job.id, seen, nullptr});
  return list;
}

void Watchers::changed(std::int64_t job) {
  const bool finished = is_finished(jobs_.get(job).state);
  // Sending may close a client, and closed() change the list: go over a copy of what to do.
  std::vector<std::pair<std::shared_ptr<Connection>, std::string>> lines;
  for (Watch& watch : watches_) {
    const auto client = watch.client.lock();
    if (watch.job != job || !client) continue;
    for (const JobEvent& event : jobs_.events(job, watch.seen)) {
      lines.emplace_back(client, event_line(job, event));
      watch.seen = event.seq;
    }
  }
  std::erase_if(watches_, [&](const Watch& w) { return finished && w.job == job; });
  for (const auto& [client, line] : lines) client->send(line);
}

void Watchers::progress(std::int64_t job, const Json& event) {
  std::vector<std::shared_ptr<Connection>> ready;
  for (Watch& watch : watches_) {
    const auto client = watch.client.lock();
    if (watch.job != job || !client) continue;
    if (client->waiting() > 0) {
      watch.waiting = event;
    } else {
      watch.waiting = nullptr;
      ready.push_back(client);
    }
  }
  for (const auto& client : ready) client->send(progress_line(job, event));
}

void Watchers::drained(const std::shared_ptr<Connection>& client) {
  std::vector<std::string> lines;
  for (Watch& watch : watches_) {
    if (watch.client.lock() != client || watch.waiting.is_null()) continue;
    lines.push_back(progress_line(watch.job, watch.waiting));
    watch.waiting = nullptr;
  }
  for (const std::string& line : lines) client->send(line);
}

void Watchers::closed(const std::shared_ptr<Connection>& client) {
  std::erase_if(watches_, [&](const Watch& w) {
    const auto watching = w.client.lock();
    return !watching || watching == client;
  });
}

}  // namespace moil::daemon
