// What measurements on this device led to, kept across nights: which kernels are fastest, and what
// backbones answer by them.
//
// Every night starts from them, so that nothing is measured twice, and the backbone computes what
// it computed before and its cached feature maps are found. A profile of another build or processor
// is ignored: its kernels may differ.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/device/conv/kernel_selector.h"

namespace moil::night {

struct KernelProfile {
  KernelChoices choices;
  // Backbone::answer() by Backbone::arithmetic().
  std::map<std::string, std::string> answers;
};

// Nothing if there is no profile, or one that this build cannot read.
[[nodiscard]] KernelProfile load_kernel_profile(const std::filesystem::path& file);

// Adds to the profile; what is there already stays. Replaces the file atomically.
void save_kernel_profile(const std::filesystem::path& file, const KernelProfile& profile);

}  // namespace moil::night
