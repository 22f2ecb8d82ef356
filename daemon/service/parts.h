// The parts of a service, by their types, for the table of methods: a method's function names those
// that it takes.
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

class Background;
class Doctor;
class EventLoop;
class Forgetting;
class Housekeeping;
class Importer;
class JobIntake;
class JobPlanner;
class JobStore;
class Metrics;
class ModelStore;
class OutsideCalls;
class Predictor;
class Previewer;
class Recurring;
class ScheduleStore;
class Scheduler;
class Server;
class Studies;
class Watchers;
class WorkerCalls;
class WorkerCommand;
class DiskReserve;
struct Config;
struct NightView;
struct Started;
class StateLayout;

class Parts {
 public:
  // Two label stores: whoever changes labels takes the writer's, on the background thread; const is
  // the one of the reading thread. Background: what writes.
  using All =
      std::tuple<const Config&, EventLoop&, const StateLayout&, Database&, DiskReserve&,
                 ModelStore&, JobStore&, ScheduleStore&, data::LabelStore&, const data::LabelStore&,
                 Background&, OutsideCalls&, const WorkerCommand&, WorkerCalls&, Importer&,
                 JobPlanner&, Predictor&, Previewer&, Studies&, JobIntake&, Scheduler&, Recurring&,
                 Watchers&, Forgetting&, Housekeeping&, const NightView&, const Doctor&,
                 const Metrics&, const Started&, const Server&, const MethodTable&>;
  explicit Parts(const All& all) : all_(all) {}  // which outlive the table

  // What a row of the table runs: the function, which takes parts after the call.
  template <class C, class... P>
  Method::Handle operator()(Json (*function)(C&, P&...)) const {
    return [function, taken = std::tie(part<P>()...)](Call& call) {
      return std::apply([&](P&... parts) { return function(call, parts...); }, taken);
    };
  }
  template <class C, class... P>
  Method::Defer operator()(void (*function)(C&, const Responder&, P&...)) const {
    return [function, taken = std::tie(part<P>()...)](Call& call, const Responder& responder) {
      std::apply([&](P&... parts) { function(call, responder, parts...); }, taken);
    };
  }

 private:
  template <class P, class... Q>
  static constexpr bool is_one_of(const std::tuple<Q...>*) {
    return (std::is_same_v<P, Q> || ...);
  }
  // As it is asked for; const is given of what is not, too.
  template <class P>
  P& part() const {
    if constexpr (is_one_of<P&>(static_cast<All*>(nullptr))) {
      return std::get<P&>(all_);
    } else {
      return std::get<std::remove_const_t<P>&>(all_);
    }
  }

  const All all_;
};

}  // namespace moil::daemon
