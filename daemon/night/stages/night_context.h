// What all stages of a night share: the job and where its files lie, the model before the night,
// the samples, what was chosen so far, and how the work is told of and stopped.
//
// A stage is an object made of this and of what earlier stages made. It writes what a resumed night
// needs of it to the job's folder (NightFiles) before the next stage begins, and finds it there.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "daemon/models/model_folder.h"
#include "daemon/night/data/night_data.h"
#include "daemon/night/maps/feature_reader.h"
#include "daemon/night/plan/processors.h"
#include "daemon/night/stages/memory_probe.h"
#include "daemon/night/stages/night_files.h"
#include "daemon/night/stages/stage_clock.h"
#include "daemon/night/train/stopped.h"
#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"
#include "engine/device/conv/measuring_time.h"

namespace moil::night {

struct NightContext {
  // False: there is no time for what is left of this piece of work.
  using Watch = std::function<bool(daemon::Stage, std::int64_t done, std::int64_t total)>;

  // All outlive it.
  NightContext(const daemon::StateLayout& layout, const daemon::JobFile& file,
               daemon::EventWriter& events, const std::atomic<bool>& stop);
  // A trial of a night: a night of its own job and samples, with files of its own, which nobody is
  // told of. It ends with Stopped if `watch` says so.
  NightContext(NightContext& night, const std::filesystem::path& folder, daemon::JobSpec trial,
               data::Mix samples, Watch watch);
  bool is_trial() const { return static_cast<bool>(watch_); }

  // A stage begins, or a part of it. Throws SampleForgotten, Stopped.
  void begin(daemon::Stage stage, std::int64_t total);
  // Tells how far it is. False if the work has to end.
  bool report(daemon::Stage stage, std::int64_t done, std::int64_t total);
  // The same; throws Stopped.
  void progress(daemon::Stage stage, std::int64_t done, std::int64_t total);
  // Without telling. Where crash tests have a night stand still: MOIL_PAUSE_AT=STAGE in the
  // environment stops it for ever once half of that stage is done; its thread is called
  // stands-still then.
  bool may_go_on(daemon::Stage stage, std::int64_t done, std::int64_t total) const;
  bool is_stopped() const { return stop.load(); }

  // Forgetting wins against a running night: nothing is kept that learned from a forgotten sample.
  // What comes between the last look and the daemon's record of the version, the daemon finds.
  // Throws SampleForgotten.
  void require_remembered() const;

  // From now on the model before the night knows what is new in the mix, if anything trains; it
  // answers as before.
  void learn_symbols();
  void save_choices() const { files.save_choices(choices); }
  Augmentation augmentation() const { return {spec.augment.views, spec.augment.flip}; }
  std::size_t held_out() const {
    return mix.global_validation.size() + mix.local_validation.size();
  }

 private:
  // What trials share with their night.
  struct Ground {
    Ground(const daemon::StateLayout& layout, const daemon::JobFile& file);

    ProcessorChooser processors;
    MemoryProbe probe;
    MeasuringTime measuring;
    const StoredModel stored;
    const daemon::JobFile file;  // with what the model says of open fields
    StoredModel base;
    NightData data;
  };
  std::shared_ptr<Ground> ground_;
  Watch watch_;
  daemon::EventWriter silent_{-1};

 public:
  const daemon::StateLayout& layout;
  const daemon::JobFile& file;
  daemon::JobSpec job;   // as it was submitted, with what the night chose in its open fields
  daemon::JobSpec spec;  // the same as a deadline makes it
  daemon::EventWriter& events;
  const std::atomic<bool>& stop;
  const NightFiles files;
  NightChoices choices;
  bool is_read = false;    // all samples were read before: none needs to be looked at again
  bool rows_anew = false;  // plan_imprint()'s
  // The weights that training begins with, and what the optimizer remembers: a checkpoint of the
  // same head. Empty: those of the model before the night.
  std::filesystem::path begun;
  ProcessorChooser& processors;
  StageClock clock;
  MemoryProbe& probe;
  MeasuringTime& measuring;  // of kernels
  const StoredModel& base;   // the model before the night, with the symbols of its mix
  NightData& data;
  data::Mix mix;
};

}  // namespace moil::night
