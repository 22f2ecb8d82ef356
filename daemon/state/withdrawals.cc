#include "daemon/state/withdrawals.h"

#include "daemon/state/job.h"

namespace moil::daemon {

EnumNames<Withdrawal::Cause> enum_names(Withdrawal::Cause) {
  return {{Withdrawal::Cause::kUser, "user"}, {Withdrawal::Cause::kCanary, "canary"}};
}

std::string to_string(Withdrawal::Cause cause) { return name_of(cause); }

Withdrawal::Cause cause_named(const std::string& name) {
  return name == to_string(Withdrawal::Cause::kCanary) ? Withdrawal::Cause::kCanary
                                                       : Withdrawal::Cause::kUser;
}

Json to_json(const std::optional<Withdrawal>& withdrawal) {
  if (!withdrawal) return nullptr;
  return {{"at", utc_text(withdrawal->at)},
          {"cause", to_string(withdrawal->cause)},
          {"why", withdrawal->why}};
}

void Withdrawals::record(const std::string& model, std::int64_t version,
                         const Withdrawal& withdrawal, const std::string& weights) {
  Statement insert(db_,
                   "INSERT OR REPLACE INTO withdrawals (model, version, at, cause, why, weights) "
                   "VALUES (?, ?, ?, ?, ?, ?)");
  insert.bind(std::string_view(model)).bind(version).bind(withdrawal.at);
  insert.bind(std::string_view(to_string(withdrawal.cause)));
  insert.bind(std::string_view(withdrawal.why)).bind(std::string_view(weights)).run();
}

void Withdrawals::lift(const std::string& model, std::int64_t version) {
  Statement remove(db_, "DELETE FROM withdrawals WHERE model = ? AND version = ?");
  remove.bind(std::string_view(model)).bind(version).run();
}

std::vector<WithdrawnWeights> Withdrawals::weights(const std::string& model) const {
  Statement rows(db_,
                 "SELECT version, weights FROM withdrawals WHERE model = ? AND weights != '' "
                 "ORDER BY version");
  rows.bind(std::string_view(model));
  std::vector<WithdrawnWeights> found;
  while (rows.step()) found.push_back({rows.integer(0), rows.text(1)});
  return found;
}

std::vector<Withdrawals::Recent> Withdrawals::by_canaries(int limit) const {
  Statement rows(db_,
                 "SELECT model, version, at, cause, why FROM withdrawals WHERE cause = 'canary' "
                 "ORDER BY at DESC LIMIT ?");
  rows.bind(std::int64_t{limit});
  std::vector<Recent> found;
  while (rows.step())
    found.push_back({rows.text(0),
                     rows.integer(1),
                     {rows.integer(2), cause_named(rows.text(3)), rows.text(4)}});
  return found;
}

}  // namespace moil::daemon
