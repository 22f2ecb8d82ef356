#include "daemon/night/kernel_profile.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/version.h"

namespace moil::night {

KernelChoices load_kernel_profile(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  const auto json = nlohmann::json::parse(read_text(file), nullptr, false);
  if (!json.is_object() || json.value("version", "") != kVersion || !json.contains("choices"))
    return {};
  KernelChoices choices;
  for (const auto& [what, who] : json.at("choices").items()) {
    if (who.is_string()) choices[what] = who.get<std::string>();
  }
  return choices;
}

void save_kernel_profile(const std::filesystem::path& file, const KernelChoices& choices) {
  KernelChoices all = load_kernel_profile(file);
  const std::size_t before = all.size();
  all.insert(choices.begin(), choices.end());
  if (all.size() == before) return;
  std::filesystem::create_directories(file.parent_path());
  write_file_atomic(file, nlohmann::json{{"version", kVersion}, {"choices", all}}.dump(1) + "\n");
}

}  // namespace moil::night
