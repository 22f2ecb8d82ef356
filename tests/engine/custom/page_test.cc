// docs/custom-layers.md shows code that is compiled and tested.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace moil {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(std::filesystem::path(MOIL_SOURCE_DIR) / path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> code_blocks(const std::string& page) {
  const std::string opening = "```cpp\n", closing = "```\n";
  std::vector<std::string> blocks;
  for (std::size_t at = page.find(opening); at != std::string::npos; at = page.find(opening, at)) {
    at += opening.size();
    const std::size_t end = page.find(closing, at);
    blocks.push_back(page.substr(at, end - at));
    at = end;
  }
  return blocks;
}

TEST(CustomLayersPageTest, ShowsTheExamplesCode) {
  const std::string sources = read_text("tests/engine/custom/learned_clip.cc") +
                              read_text("tests/engine/custom/lion.cc") +
                              read_text("tests/engine/custom/custom_test.cc");
  const auto blocks = code_blocks(read_text("docs/custom-layers.md"));
  EXPECT_GE(blocks.size(), 5u);
  for (const std::string& block : blocks) {
    EXPECT_GT(block.size(), 40u);
    EXPECT_NE(sources.find(block), std::string::npos) << block;
  }
}

}  // namespace
}  // namespace moil
