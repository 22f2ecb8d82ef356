#include "base/svg.h"

#include <cstdio>

namespace moil::svg {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_forbidden(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

// U+FFFE and U+FFFF.
bool is_noncharacter(std::string_view rest) {
  return rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF");
}

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + number(value) + "\"";
}

std::string with_space(std::string_view attributes) {
  return attributes.empty() ? "" : " " + std::string(attributes);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (is_forbidden(c)) {
      out += kReplacement;
    } else if (is_noncharacter(text.substr(i))) {
      out += kReplacement;
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", x);
  return text;
}

std::string begin(double width, double height) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + " " +
         number(height) + "\" font-family=\"sans-serif\" font-size=\"11\">\n" +
         box(0, 0, width, height, "fill=\"white\"");
}

std::string text(double x, double y, std::string_view words, std::string_view attributes) {
  return "<text" + attribute("x", x) + attribute("y", y) + with_space(attributes) + ">" +
         escaped(words) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  return "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
         attribute("y2", y2) + with_space(attributes) + "/>\n";
}

std::string box(double x, double y, double width, double height, std::string_view attributes,
                std::string_view tip) {
  const std::string tag = "<rect" + attribute("x", x) + attribute("y", y) +
                          attribute("width", width) + attribute("height", height) +
                          with_space(attributes);
  if (tip.empty()) return tag + "/>\n";
  return tag + "><title>" + escaped(tip) + "</title></rect>\n";
}

}  // namespace moil::svg
