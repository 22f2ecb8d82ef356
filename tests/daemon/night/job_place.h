// A state folder as the daemon keeps one, with a small model, a pack and labelled images in it, and
// jobs of a blink that run in the test's own process.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/spec/job_spec.h"
#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"
#include "tests/daemon/night/support.h"

namespace moil::night {

// What a job left behind: nothing that differs from run to run if the description is the same.
struct JobTrace {
  Json result;                         // without times and measured memory
  std::string weights;                 // of the version it wrote; empty: none
  Json samples, choices;               // mix.json, choices.json
  std::map<std::string, int> written;  // how often each file of its folder was renamed into place
  std::size_t cached_bytes = 0;
};

class JobPlace {
 public:
  // labelled: images of each label.
  explicit JobPlace(std::size_t labelled = 5, const ModelBundle& bundle = small_bundle());
  // The samples of the pack, and the labelled ones.
  JobPlace(const ModelBundle& bundle, const data::SampleDataset& pack,
           const data::SampleDataset& labelled);

  // Classes a, b and c are the model's and the pack's, with 8 samples each; "new" and "c" are
  // labelled.
  [[nodiscard]] Json description() const;
  // The same, and everything that a night can choose is left to it.
  [[nodiscard]] Json open_description() const;
  [[nodiscard]] std::filesystem::path folder(const std::string& name) const {
    return folder_ / name;
  }
  // As job.submit: throws what is refused then.
  [[nodiscard]] daemon::JobSpec submitted(const Json& description) const;
  // The description's, trained in one layer by one thread, and changed by `more`.
  [[nodiscard]] daemon::JobSpec head_alone(const Json& more = Json::object()) const;
  [[nodiscard]] StoredModel version(std::int64_t version) const {
    return open_model_folder(layout_.version("small", version));
  }
  // Throws if the night fails. base: the version that it begins with; anchor: 0 if there is none.
  JobTrace run(const daemon::JobSpec& spec, std::int64_t base = 1, std::int64_t anchor = 0);
  // Runs a job until it ends, or until its training begins; whether it has ended.
  [[nodiscard]] bool attempt(const daemon::JobFile& file, bool stops) const;
  [[nodiscard]] std::int64_t last_job() const { return next_ - 1; }
  [[nodiscard]] const daemon::StateLayout& layout() const { return layout_; }
  [[nodiscard]] daemon::JobFile job_file(const daemon::JobSpec& spec, std::int64_t id) const;

 private:
  TempFolder folder_;
  daemon::StateLayout layout_;
  std::int64_t next_ = 1;
};

}  // namespace moil::night
