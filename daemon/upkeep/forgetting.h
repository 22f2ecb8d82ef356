// Forgets samples for good: what the label store forgot is removed from wherever else it left
// something. docs/user-guide.md says what that is.
//
// In this order, so that a crash at any point leaves nothing that is forgotten but present without
// a note of it in the label store (LabelStore::forgetting()), with which the next start goes on:
//   1. the label store's rows, with the note, then its files;        background
//   2. feature maps: from now on no worker stores any (cache.h)      background
//   3. where jobs and events tell of the samples is found out       background
//   4. what model versions, jobs and events know of them             loop, a little in each turn
//   5. what unfinished nights made of them: a running one is stopped, and each begins anew
//   6. the note, when the database has erased what 4 overwrote       background
//
// The answer comes with 5. Each step has the disk's reserve, so that it works with no byte free.
//
// Loop thread only. Everything given outlives it and its work.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/jobs/scheduler.h"
#include "daemon/loop/background.h"
#include "daemon/rpc/method.h"
#include "daemon/state/disk_reserve.h"
#include "daemon/state/flusher.h"
#include "daemon/state/job_store.h"
#include "daemon/state/model_store.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

class Forgetting {
 public:
  Forgetting(EventLoop& loop, Background& background, data::LabelStore& labels,
             const StateLayout& layout, const Config& config, Database& database, Flusher& flusher,
             ModelStore& models, Scheduler& scheduler, DiskReserve& reserve);

  // `rows` does step 1 on the background thread and returns the answer, to which "versions" is
  // added: the model versions that learned from what was forgotten.
  void start(std::function<Json()> rows, const Responder& responder);
  // Goes on with what a crash or an error left undone.
  void resume();

 private:
  struct Work;
  using WorkPtr = std::shared_ptr<Work>;

  void remove_maps(Work& work) const;
  void find_traces(Work& work) const;
  void go_on(const WorkPtr& work);
  void remove_some(Work& work);
  void erase(const WorkPtr& work);
  void erased(const WorkPtr& work, bool is_erased, const std::exception_ptr& error);
  void end(const WorkPtr& work);
  [[nodiscard]] Json versions(const Work& work) const;
  void forget_note(const std::vector<data::ForgottenSample>& samples);

  EventLoop& loop_;
  Background& background_;
  data::LabelStore& labels_;
  const StateLayout layout_;
  const Config& config_;
  Database& database_;
  Flusher& flusher_;
  ModelStore& models_;
  Scheduler& scheduler_;
  DiskReserve& reserve_;
  int erasing_ = 0;                        // that are under way
  std::optional<DiskReserve::Lent> room_;  // while some are
};

}  // namespace moil::daemon
