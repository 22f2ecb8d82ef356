// The kernel choices that measurements on this device led to, kept across nights.
//
// Every night starts from them, so that the backbone computes what it computed before and its
// cached feature maps are found. A profile of another build is ignored: its kernels may differ.
#pragma once

#include <filesystem>

#include "engine/device/kernel_selector.h"

namespace moil::night {

// Nothing where there is no profile, or one that this build cannot read.
[[nodiscard]] KernelChoices load_kernel_profile(const std::filesystem::path& file);

// Adds `choices` to the profile; what is there already stays. Replaces the file atomically.
void save_kernel_profile(const std::filesystem::path& file, const KernelChoices& choices);

}  // namespace moil::night
