#include "daemon/night/stages/promote_stage.h"

#include "base/files/file.h"
#include "daemon/spec/job_result.h"

namespace moil::night {

using daemon::Stage;

void promote(NightContext& night, const daemon::JobResult& result) {
  night.begin(Stage::kPromote, 2);
  const auto incoming = night.layout.incoming(night.spec.model, night.file.version);
  const auto version = night.layout.version(night.spec.model, night.file.version);
  // An attempt left it whose result was lost, or that learned from what was forgotten; it is gone
  // before there is a result that it could be taken for.
  std::filesystem::remove_all(version);
  write_result(night.layout, night.file.id, result);
  (void)night.report(Stage::kPromote, 1, 2);  // what is promoted is no longer stopped
  if (result.promoted) {
    night.require_remembered();
    rename_durable(incoming, version);
  } else {
    std::filesystem::remove_all(incoming);
  }
  std::filesystem::remove(night.files.checkpoint());
  std::filesystem::remove(night.files.soft_targets());
  std::filesystem::remove_all(night.files.trials());
  (void)night.report(Stage::kPromote, 2, 2);
}

}  // namespace moil::night
