#include "daemon/doctor/doctor.h"

#include <memory>

#include "base/version.h"
#include "daemon/doctor/machine_checks.h"
#include "daemon/doctor/night_checks.h"
#include "daemon/doctor/storage_checks.h"
#include "daemon/doctor/system_checks.h"

namespace moil::daemon {
namespace {

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

// One examination, kept alive by what it waits for. The disk waits for the worker, and the cache
// for the disk, so that none disturbs what another measures.
class Examination : public std::enable_shared_from_this<Examination> {
 public:
  Examination(const Examined& examined, Responder responder)
      : s_(examined), responder_(std::move(responder)) {}

  void begin() {
    is_busy_ = s_.nights.scheduler.running().has_value();
    WorkerCalls::Answer answer;
    answer.result = [self = shared_from_this()](const Json& speed) { self->machine(speed); };
    answer.error = [self = shared_from_this()](const std::exception_ptr& error) {
      self->no_worker(message_of(error));
    };
    answer.whose = responder_;
    try {
      s_.calls.start(s_.command.doctor(), std::move(answer));
    } catch (const Error& error) {
      no_worker(error.what());
    }
  }

 private:
  void machine(const Json& speed) {
    machine_ = judge_machine(speed, is_busy_);
    machine_.insert(machine_.begin(), ok("worker", s_.command.program() + " starts"));
    look_at_disk();
  }

  void no_worker(const std::string& why) {
    machine_ = {problem("worker", s_.command.program() + " does not do its work: " + why,
                        "install moild anew; \"worker\" in moild.json names the program")};
    look_at_disk();
  }

  void look_at_disk() {
    if (!responder_.is_open()) return;
    try {
      s_.outside.start<DiskSpeed>([folder = s_.layout.root()] { return measure_disk(folder); },
                                  [self = shared_from_this()](const DiskSpeed& speed) {
                                    self->look_at_files(judge_disk(speed));
                                  },
                                  [self = shared_from_this()](const std::exception_ptr& error) {
                                    self->bad_disk(message_of(error));
                                  },
                                  responder_.user());
    } catch (const Error& error) {
      bad_disk(error.what());
    }
  }

  void bad_disk(const std::string& why) {
    look_at_files(problem("disk-speed", "the state folder's disk could not be tried: " + why,
                          "see to the disk (dmesg, smartctl, df)"));
  }

  void look_at_files(const Finding& disk_speed) {
    s_.background.submit([self = shared_from_this(), disk_speed]() -> Background::Done {
      Findings files = {
          check_state_folder(self->s_.layout.root()), check_socket(self->s_.server.path()),
          judge_room(free_disk_bytes(self->s_.layout.root()), self->s_.nights.config.disk),
          disk_speed, self->cache()};
      return [self, files] { self->answer(files); };
    });
  }

  Finding cache() const {
    try {
      return check_cache(s_.layout, s_.nights.config.cache.quota_bytes);
    } catch (const std::exception& error) {
      return problem("cache", std::string("it cannot be looked at: ") + error.what(),
                     "moilctl cache verify --repair");
    }
  }

  Finding clock() const {
    const std::int64_t up = s_.nights.world.steady_milliseconds() - s_.counts.started_at;
    ClockReading clock;
    clock.now = s_.nights.world.now_milliseconds();
    clock.moved = clock.now - s_.counts.started_on - up;
    clock.is_synchronised = clock_is_synchronised();
    clock.newest_record =
        s_.nights.database.number("SELECT coalesce(max(submitted_at), 0) FROM jobs");
    return judge_clock(clock);
  }

  void answer(const Findings& files) {
    Json list = Json::array();
    int problems = 0, warnings = 0;
    const Findings device = judge_device(s_.nights.world.device(), s_.nights.config.conditions);
    for (const Findings& part :
         {files, check_kernel(device_root()), Findings{check_gpu(device_root())}, machine_,
          Findings{clock()}, device, check_nights(s_.nights)}) {
      for (const Finding& finding : part) {
        problems += finding.level == Finding::Level::kProblem ? 1 : 0;
        warnings += finding.level == Finding::Level::kWarning ? 1 : 0;
        list.push_back(to_json(finding));
      }
    }
    responder_.result({{"version", kVersion},
                       {"problems", problems},
                       {"warnings", warnings},
                       {"findings", std::move(list)}});
  }

  const Examined& s_;
  Responder responder_;
  bool is_busy_ = false;
  Findings machine_;
};

}  // namespace

void examine(const Examined& examined, const Responder& responder) {
  std::make_shared<Examination>(examined, responder)->begin();
}

}  // namespace moil::daemon
