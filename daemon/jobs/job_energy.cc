#include "daemon/jobs/job_energy.h"

#include <cmath>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/unflushed.h"
#include "daemon/json/parse.h"
#include "daemon/log/log.h"
#include "daemon/schedule/world.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

constexpr std::chrono::seconds kPeriod{5};
constexpr std::uint64_t kMostFileBytes = 4096;
constexpr int kEnergyNesting = 4;

Json to_json(const std::optional<Energy>& energy) {
  if (!energy) return nullptr;
  return {{"joules", energy->joules}, {"source", energy->source}};
}

// Empty if it is not known. The worker, too, may write to the job's folder: nothing is believed.
std::optional<Energy> read_energy(const fs::path& file) {
  try {
    const Json record = parse_json(read_text(file, kMostFileBytes), kEnergyNesting);
    Energy energy{record.at("joules").get<double>(), record.at("source").get<std::string>()};
    return std::isfinite(energy.joules) && energy.joules >= 0 ? std::optional(energy)
                                                              : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

JobEnergy::JobEnergy(EventLoop& loop, const World& world, fs::path file)
    : loop_(loop), world_(world), file_(std::move(file)), meter_(world.energy_meter()) {
  std::error_code error;
  const bool is_first = !fs::exists(file_, error) && !error;
  before_ = is_first ? Energy{} : read_energy(file_);
  keep(nullptr);
  sample_again();
}

JobEnergy::~JobEnergy() { loop_.cancel(timer_); }

void JobEnergy::sample() {
  meter_.sample(static_cast<double>(world_.steady_milliseconds()) / 1000);
}

void JobEnergy::sample_again() {
  sample();
  timer_ = loop_.after(kPeriod, [this] { sample_again(); });
}

void JobEnergy::end() {
  loop_.cancel(timer_);
  sample();
  keep(to_json(all_attempts()));
}

// What was measured of different things does not add up.
std::optional<Energy> JobEnergy::all_attempts() const {
  const auto now = meter_.energy();
  if (!now || !before_) return std::nullopt;
  if (!before_->source.empty() && before_->source != now->source) return std::nullopt;
  return Energy{before_->joules + now->joules, now->source};
}

void JobEnergy::keep(const Json& record) const {
  try {
    write_unflushed(file_, to_line(record) + "\n");
  } catch (const Error& error) {
    log_warn("the energy of a job cannot be kept: {}", error.what());
  }
}

void add_energy(Json& result, const fs::path& file) {
  const auto details = result.find("details");
  if (details != result.end() && details->is_object())
    (*details)["energy"] = to_json(read_energy(file));
}

}  // namespace moil::daemon
