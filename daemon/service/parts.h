// These are a service's parts. The function of a method takes as parameters those that it needs.
#pragma once

#include <tuple>
#include <type_traits>

#include "daemon/rpc/method.h"

namespace moil {
class Database;
}
namespace moil::data {
class LabelStore;
}

namespace moil::daemon {

// Two label stores: whoever changes labels takes the writer's, on the background thread; const is
// the one of the reading thread. Background: what writes.
using AllParts =
    std::tuple<const struct Config&, class EventLoop&, const class StateLayout&, Database&,
               class DiskReserve&, class ModelStore&, class JobStore&, class ScheduleStore&,
               data::LabelStore&, const data::LabelStore&, class Background&, class OutsideCalls&,
               const class WorkerCommand&, class WorkerCalls&, class Importer&, class JobPlanner&,
               class Predictor&, class Previewer&, class Studies&, class Trials&,
               const struct JobIntake&, class Scheduler&, class Recurring&, class Watchers&,
               class Forgetting&, class Housekeeping&, class Backups&, const struct NightView&,
               const struct Examined&, const struct Measured&, const struct Counts&,
               const class Server&, const MethodTable&>;

class Parts {
 public:
  explicit Parts(const AllParts& all) : all_(all) {}  // which outlive the table, as this does

  // What a row of the table runs. The function takes, in any order: the call, whoever is to be
  // answered if it answers later, parts, and the parameters, which are read where they are asked
  // for (json/fields.h).
  template <class Result, class... A>
  Method::Run operator()(Result (*function)(A&...)) const {
    Method::Run run;
    if constexpr (std::is_void_v<Result>) {
      run = Method::Defer([this, function](Call& call, const Responder& responder) {
        function(given<A>(call, &responder)...);
      });
    } else {
      run = Method::Handle(
          [this, function](Call& call) { return function(given<A>(call, nullptr)...); });
    }
    (describe<A>(run), ...);
    return run;
  }

  // The same of a function that reads its parameters itself.
  template <class Params, class Function>
  Method::Run reading(Function function) const {
    Method::Run run = (*this)(function);
    run.params = schema_of<Params>;
    return run;
  }

 private:
  template <class A, class... All>
  static constexpr bool is_one_of(const std::tuple<All...>*) {
    return (std::is_same_v<A&, All> || ...);
  }
  template <class A>
  static constexpr bool kIsPart = is_one_of<A>(static_cast<const AllParts*>(nullptr));

  template <class A>
  decltype(auto) given(Call& call, const Responder* responder) const {
    using Bare = std::remove_const_t<A>;
    if constexpr (std::is_same_v<Bare, Call>) {
      return static_cast<A&>(call);
    } else if constexpr (std::is_same_v<Bare, Responder>) {
      return static_cast<const Responder&>(*responder);
    } else if constexpr (kIsPart<A>) {
      return std::get<A&>(all_);
    } else if constexpr (kIsPart<Bare>) {
      return static_cast<A&>(std::get<Bare&>(all_));
    } else {
      return read_fields<Bare>(call.params, "the parameters of " + call.method);
    }
  }

  template <class A>
  static void describe(Method::Run& run) {
    using Bare = std::remove_const_t<A>;
    if constexpr (!std::is_same_v<Bare, Call> && !std::is_same_v<Bare, Responder> && !kIsPart<A> &&
                  !kIsPart<Bare>)
      run.params = schema_of<Bare>;
  }

  const AllParts all_;
};

}  // namespace moil::daemon
