#include "base/svg.h"

#include <gtest/gtest.h>

namespace moil::svg {
namespace {

TEST(Svg, EscapesWhatXmlReadsOtherwise) {
  EXPECT_EQ(escaped("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(escaped("α ρ"), "α ρ");
}

TEST(Svg, ReplacesWhatXmlForbids) {
  EXPECT_EQ(escaped(std::string("a\0b\x1b\n", 5)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\n");
  EXPECT_EQ(escaped("\xEF\xBF\xBF."), "\xEF\xBF\xBD.");
}

TEST(Svg, AnElementALine) {
  EXPECT_EQ(text(1, 2.5, "<"), "<text x=\"1.00\" y=\"2.50\">&lt;</text>\n");
  EXPECT_EQ(line(0, 0, 1, 1, "stroke=\"red\""),
            "<line x1=\"0.00\" y1=\"0.00\" x2=\"1.00\" y2=\"1.00\" stroke=\"red\"/>\n");
  EXPECT_EQ(box(0, 0, 1, 1, "fill=\"red\"", "a & b"),
            "<rect x=\"0.00\" y=\"0.00\" width=\"1.00\" height=\"1.00\" fill=\"red\">"
            "<title>a &amp; b</title></rect>\n");
}

}  // namespace
}  // namespace moil::svg
