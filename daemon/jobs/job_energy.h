// The energy that a job takes, all attempts together: measured while its worker runs, and kept in
// the job's folder (state_layout.h) as details.energy of its result has it:
//
//   {"joules": 5312.4, "source": "processor package"}   or null: not known
//
// It is not known while an attempt goes on, so that one whose end the daemon did not see counts as
// what nobody measured. It is of the device, whatever else the device did meanwhile. If it
// cannot be kept, that is logged and the job goes on. Loop thread only.
#pragma once

#include <filesystem>
#include <optional>

#include "daemon/json/fields.h"
#include "daemon/loop/event_loop.h"
#include "daemon/schedule/energy.h"

namespace moil::daemon {

class World;

// Measures one attempt, from its construction to end().
class JobEnergy {
 public:
  JobEnergy(EventLoop& loop, const World& world, std::filesystem::path file);
  ~JobEnergy();
  JobEnergy(const JobEnergy&) = delete;
  JobEnergy& operator=(const JobEnergy&) = delete;

  void end();

 private:
  void sample();
  void sample_again();
  std::optional<Energy> all_attempts() const;
  void keep(const Json& record) const;

  EventLoop& loop_;
  const World& world_;
  const std::filesystem::path file_;
  std::optional<Energy> before_;  // by earlier attempts
  EnergyMeter meter_;
  EventLoop::TimerId timer_ = 0;
};

// Writes what is kept in `file` into the details of a job's result, if it has any.
void add_energy(Json& result, const std::filesystem::path& file);

}  // namespace moil::daemon
