// Versions that were rolled back from: what no night may bring back as it was.
//
// A withdrawal outlives its version, so that a night which comes to the same weights again is known
// for it; it ends when somebody puts the version in service again. Loop thread only; what changes
// something expects the caller's write transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/json/fields.h"
#include "daemon/spec/worker_protocol.h"
#include "daemon/state/schema.h"

namespace moil::daemon {

struct Withdrawal {
  enum class Cause { kUser, kCanary };
  std::int64_t at = 0;  // milliseconds since 1970
  Cause cause = Cause::kUser;
  std::string why;
};

EnumNames<Withdrawal::Cause> enum_names(Withdrawal::Cause);
Json to_json(const std::optional<Withdrawal>& withdrawal);  // null if there is none
// As the database has it.
std::string to_string(Withdrawal::Cause cause);
Withdrawal::Cause cause_named(const std::string& name);

class Withdrawals {
 public:
  explicit Withdrawals(Database& database) : db_(database) {}

  // weights: their digest; empty if it is not known.
  void record(const std::string& model, std::int64_t version, const Withdrawal& withdrawal,
              const std::string& weights);
  void lift(const std::string& model, std::int64_t version);
  // Those whose weights are known.
  [[nodiscard]] std::vector<WithdrawnWeights> weights(const std::string& model) const;

  struct Recent {
    std::string model;
    std::int64_t version = 0;
    Withdrawal withdrawal;
  };
  // What canaries withdrew, newest first.
  [[nodiscard]] std::vector<Recent> by_canaries(int limit) const;

 private:
  Database& db_;
};

}  // namespace moil::daemon
