// Sounds that a fuzzer begins with: one of each format, short.
#pragma once

#include <map>
#include <string>

namespace moil::test {

std::map<std::string, std::string> sound_seeds();

}  // namespace moil::test
