// Pieces of an SVG document, each a line or a few. Texts are UTF-8, coordinates in the document's
// units. Pure functions; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace moil::svg {

// For text and attribute values: < > & " escaped; characters that XML forbids become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);
[[nodiscard]] std::string number(double x);  // two digits after the point

// The root's opening tag, in a sans-serif of 11 units, and a white ground; "</svg>" ends it.
[[nodiscard]] std::string begin(double width, double height);

// `words` are escaped; `attributes` are written as they stand.
[[nodiscard]] std::string text(double x, double y, std::string_view words,
                               std::string_view attributes = "");
[[nodiscard]] std::string line(double x1, double y1, double x2, double y2,
                               std::string_view attributes);
// `tip`, if there is one, shows when the box is pointed at; escaped.
[[nodiscard]] std::string box(double x, double y, double width, double height,
                              std::string_view attributes, std::string_view tip = "");

}  // namespace moil::svg
