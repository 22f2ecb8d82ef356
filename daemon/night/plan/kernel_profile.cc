#include "daemon/night/plan/kernel_profile.h"

#include <fcntl.h>
#include <sys/file.h>

#include <fstream>

#include "base/files/unique_fd.h"
#include "daemon/night/data/build_record.h"

namespace moil::night {
namespace {

// What says which instructions the first processor has.
std::string machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(info, line) && !line.empty();) {
    for (const char* kind : {"model name", "flags", "CPU implementer", "CPU part", "Features"})
      if (line.starts_with(kind)) text += line + "\n";
  }
  return text;
}

std::map<std::string, std::string> texts(const nlohmann::json& json, const char* member) {
  std::map<std::string, std::string> found;
  const nlohmann::json all = json.value(member, nlohmann::json::object());
  for (const auto& [what, who] : all.items()) {
    if (who.is_string()) found[what] = who.get<std::string>();
  }
  return found;
}

}  // namespace

KernelProfile load_kernel_profile(const std::filesystem::path& file) {
  const auto json = BuildRecord(file).load();
  if (!json || json->value("machine", nlohmann::json()) != machine()) return {};
  return {texts(*json, "choices"), texts(*json, "answers")};
}

void save_kernel_profile(const std::filesystem::path& file, const KernelProfile& profile) {
  std::filesystem::create_directories(file.parent_path());
  // A night and looks by day add to it, one after the other.
  const UniqueFd turn(::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (turn) (void)::flock(turn.get(), LOCK_EX);
  KernelProfile all = load_kernel_profile(file);
  const std::size_t before = all.choices.size() + all.answers.size();
  all.choices.insert(profile.choices.begin(), profile.choices.end());
  all.answers.insert(profile.answers.begin(), profile.answers.end());
  if (all.choices.size() + all.answers.size() == before) return;
  BuildRecord(file).save(
      {{"machine", machine()}, {"choices", all.choices}, {"answers", all.answers}});
}

}  // namespace moil::night
