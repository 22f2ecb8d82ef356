// Pieces of the report's page. What a function is given as `words` or as cells is escaped; what it
// is given as `html` is written as it stands. Pure functions; safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "daemon/ctl/console.h"
#include "daemon/json/fields.h"

namespace moil::daemon::ctl::html {

// Somebody chose it, a label or a file's name: escaped, without control characters, and apart from
// its surroundings in the direction of text.
[[nodiscard]] std::string name(const Json& words);
// Escaped. "-" for null.
[[nodiscard]] std::string words(const Json& value);
[[nodiscard]] std::string element(std::string_view tag, std::string_view html,
                                  std::string_view attributes = "");
[[nodiscard]] std::string paragraph(std::string_view html, std::string_view attributes = "");
// Nothing if there is no body.
[[nodiscard]] std::string section(std::string_view title, std::string_view html);
// Scrolls by itself if the screen is narrow. No heading if `heading` is empty; rows of HTML.
[[nodiscard]] std::string table(const std::vector<std::string>& heading, std::string_view html_rows,
                                std::string_view attributes = "");
[[nodiscard]] std::string row(const std::vector<std::string>& html_cells,
                              std::string_view attributes = "");
// Rows as moilctl prints them, the first of each as its heading; nothing if there are none.
[[nodiscard]] std::string key_table(const Rows& rows);
// Filled so far, from 0 to 1.
[[nodiscard]] std::string bar(double share, std::string_view css_class = "");

}  // namespace moil::daemon::ctl::html
