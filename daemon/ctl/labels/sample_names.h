// Which sample a person means: by a file at hand, whose content it is; by the name under which it
// was added, or the end of that ("beach.jpg" of ~/Photos/beach.jpg); by its digest, or the first
// digits of that. One thread.
#pragma once

#include <string>
#include <vector>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

// The `samples`, as label.samples lists them, that are called so or whose digest begins so.
[[nodiscard]] Json samples_called(const Json& samples, const std::string& given);

class SampleNames {
 public:
  explicit SampleNames(Session& session) : session_(session) {}  // which outlives it

  // kNotFound; kInvalidArgument, with the candidates, if it may be several.
  [[nodiscard]] std::string digest_of(const std::string& given);
  [[nodiscard]] std::vector<std::string> digests_of(const std::vector<std::string>& given);
  // The same, and of a folder those of its files that are samples; each once.
  [[nodiscard]] std::vector<std::string> digests_within(const std::vector<std::string>& given);
  // "beach.jpg (cat)", of a sample that is there; else its digest.
  [[nodiscard]] std::string title(const std::string& digest);

 private:
  const Json& samples();

  Session& session_;
  Json samples_;  // asked for once
};

// What SAMPLE is, for the help.
inline constexpr const char* kSampleHelp =
    "a photo's file, the end of its name, or the first digits of its digest (label samples)";

}  // namespace moil::daemon::ctl
