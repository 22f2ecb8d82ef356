#pragma once

namespace moil {

inline constexpr const char* kVersion = MOIL_VERSION;

}  // namespace moil
