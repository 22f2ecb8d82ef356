// Recorded devices as JSON (docs/processors.md).
//
// Strict: kBadData naming the field for what is missing, unknown, not a finite number of at least
// 0, or nested too deep.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/device/recorded_device.h"

namespace moil {

[[nodiscard]] RecordedDevice parse_recorded_device(std::string_view json,
                                                   const std::string& where = "device");
[[nodiscard]] RecordedDevice read_recorded_device(const std::filesystem::path& file);
[[nodiscard]] std::string format_recorded_device(const RecordedDevice& device);

}  // namespace moil
