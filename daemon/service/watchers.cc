#include "daemon/service/watchers.h"

#include <algorithm>

#include "daemon/rpc/reply.h"

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

void Watchers::begin(const std::shared_ptr<Connection>& client, std::int64_t job,
                     std::int64_t seen) {
  std::erase_if(watches_,
                [&](const Watch& w) { return w.job == job && w.client.lock() == client; });
  watches_.push_back({client, job, seen, seen, nullptr, false, false});
}

void Watchers::changed(std::int64_t job) {
  const bool is_watched =
      std::ranges::any_of(watches_, [job](const Watch& watch) { return watch.job == job; });
  if (!is_watched) return;
  const bool is_last = is_finished(jobs_.standing(job).state);
  flusher_.then(
      [this, job, newest = jobs_.newest_event(job), is_last](const std::exception_ptr& lost) {
        if (!lost) keep(job, newest, is_last);
      });
}

void Watchers::keep(std::int64_t job, std::int64_t newest, bool is_last) {
  for (Watch& watch : watches_) {
    if (watch.job != job) continue;
    watch.kept = std::max(watch.kept, newest);
    watch.begun = true;
    watch.ends |= is_last;
  }
  push_all([job](const Watch& w) { return w.job == job; });
}

void Watchers::progress(std::int64_t job, const Json& event) {
  for (Watch& watch : watches_) {
    if (watch.job == job) watch.waiting = event;
  }
  push_all([job](const Watch& w) { return w.job == job; });
}

void Watchers::drained(const std::shared_ptr<Connection>& client) {
  push_all([&](const Watch& w) { return w.client.lock() == client; });
}

void Watchers::push_all(const std::function<bool(const Watch&)>& whose) {
  std::erase_if(watches_, [&](Watch& watch) {
    const auto client = watch.client.lock();
    if (!client) return true;
    if (!whose(watch)) return false;
    push(watch, client);
    return watch.ends && client->waiting() == 0;
  });
}

// Until something waits to be read: the rest follows when it was.
void Watchers::push(Watch& watch, const std::shared_ptr<Connection>& client) {
  if (client->waiting() > 0 || !watch.begun) return;
  jobs_.events(watch.job, watch.seen, [&](const JobEvent& event) {
    if (event.seq > watch.kept) return false;
    watch.seen = event.seq;
    client->send(event_line(watch.job, event));
    return client->waiting() == 0;
  });
  if (client->waiting() > 0 || watch.waiting.is_null()) return;
  client->send(progress_line(watch.job, std::exchange(watch.waiting, nullptr)));
}

void Watchers::closed(const std::shared_ptr<Connection>& client) {
  std::erase_if(watches_, [&](const Watch& w) {
    const auto watching = w.client.lock();
    return !watching || watching == client;
  });
}

}  // namespace moil::daemon
