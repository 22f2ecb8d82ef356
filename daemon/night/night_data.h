// The datasets of one night: the global pack D_G and the label store's samples D_L.
#pragma once

#include <memory>

#include "daemon/job_spec.h"
#include "daemon/night/feature_source.h"
#include "daemon/state_layout.h"
#include "datasets/labels/label_types.h"

namespace moil::night {

// Opens both, the label store read-only (the daemon writes it). Throws what their readers throw.
class NightData {
 public:
  NightData(const daemon::StateLayout& layout, const daemon::JobSpec& spec);
  ~NightData();

  const data::Dataset& global() const;
  const data::Dataset& local() const;
  const Origins& origins() const { return origins_; }
  const data::Reconciliation& reconciliation() const { return reconciliation_; }

 private:
  struct Readers;
  std::unique_ptr<Readers> readers_;
  Origins origins_;
  data::Reconciliation reconciliation_;
};

}  // namespace moil::night
