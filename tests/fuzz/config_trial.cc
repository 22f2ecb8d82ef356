#include <string>

#include "daemon/config/config.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/text.h"
#include "tests/fuzz/trials.h"

namespace moil::test {

bool try_config(std::span<const std::uint8_t> bytes) {
  return accepts([&] {
    const daemon::Config config = daemon::parse_config(std::string(text_of(bytes)), "moild.json");
    const std::string written = to_json(config).dump();
    require(to_json(daemon::parse_config(written, "moild.json")).dump() == written,
            "a configuration means the same once it was written");
  });
}

}  // namespace moil::test
