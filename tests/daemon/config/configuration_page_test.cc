// docs/configuration.md and config/moild.json against the code: all three have the same keys, with
// the same defaults.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/files/file.h"
#include "daemon/config/config.h"
#include "daemon/json/parse.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

using Defaults = std::map<std::string, std::string>;  // by the key's JSON pointer

// A list is one key.
void add_defaults(Defaults& out, const std::string& pointer, const Json& value) {
  if (!value.is_object()) {
    out[pointer] = value.dump();
    return;
  }
  for (const auto& [name, member] : value.items())
    add_defaults(out, pointer_to(pointer, name), member);
}

Defaults defaults_of(const Json& document) {
  Defaults out;
  add_defaults(out, "", document);
  return out;
}

Defaults of_the_code() { return defaults_of(to_json(Config())); }

TEST(ConfigurationPage, HasEveryKeyWithItsDefault) {
  std::ifstream page(fs::path(PROJECT_SOURCE_DIR) / "docs/configuration.md");
  Defaults documented;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `/")) continue;
    const std::size_t end = line.find("` | `", 3);
    ASSERT_NE(end, std::string::npos) << line;
    const std::size_t begin = end + 5;
    documented[line.substr(3, end - 3)] = line.substr(begin, line.find('`', begin) - begin);
    EXPECT_GT(line.size(), line.find(" | ", begin) + 10) << "no meaning: " << line;
  }
  EXPECT_EQ(documented, of_the_code());
}

TEST(ConfigurationPage, TheShippedFileHasEveryKeyWithItsDefault) {
  const std::string text = read_text(fs::path(PROJECT_SOURCE_DIR) / "config/moild.json");
  EXPECT_EQ(defaults_of(parse_json(text, 16, Comments::kAllowed)), of_the_code());
}

}  // namespace
}  // namespace moil::daemon::test
