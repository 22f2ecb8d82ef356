#include "daemon/ctl/report_page/html.h"

#include <algorithm>

#include "base/svg.h"
#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl::html {

std::string name(const Json& words) {
  return "<bdi>" + svg::escaped(printable(cell(words))) + "</bdi>";
}

std::string words(const Json& value) { return svg::escaped(printable(cell(value))); }

std::string element(std::string_view tag, std::string_view html, std::string_view attributes) {
  std::string text = "<" + std::string(tag);
  if (!attributes.empty()) text += " " + std::string(attributes);
  return text + ">" + std::string(html) + "</" + std::string(tag) + ">";
}

std::string paragraph(std::string_view html, std::string_view attributes) {
  return element("p", html, attributes) + "\n";
}

std::string section(std::string_view title, std::string_view html) {
  if (html.empty()) return "";
  return "<section>\n" + element("h2", svg::escaped(title)) + "\n" + std::string(html) +
         "</section>\n";
}

std::string row(const std::vector<std::string>& html_cells, std::string_view attributes) {
  std::string cells;
  for (const std::string& html : html_cells) cells += element("td", html);
  return element("tr", cells, attributes) + "\n";
}

std::string table(const std::vector<std::string>& heading, std::string_view html_rows,
                  std::string_view attributes) {
  std::string cells;
  for (const std::string& words : heading) cells += element("th", svg::escaped(words));
  const std::string head = heading.empty() ? "" : "<thead><tr>" + cells + "</tr></thead>\n";
  return "<div class=\"wide\">" +
         element("table", head + "<tbody>\n" + std::string(html_rows) + "</tbody>", attributes) +
         "</div>\n";
}

std::string key_table(const Rows& all) {
  const Rows rows = known_rows(all);
  if (rows.empty()) return "";
  std::string body;
  for (const auto& cells : rows) {
    std::string html;
    for (std::size_t i = 0; i < cells.size(); ++i)
      html += element(i == 0 ? "th" : "td", words(cells[i]));
    body += element("tr", html) + "\n";
  }
  return table({}, body, "class=\"keys\"");
}

std::string bar(double share, std::string_view css_class) {
  const std::string width = svg::number(100 * std::clamp(share, 0.0, 1.0)) + "%";
  std::string filled = "class=\"filled";
  if (!css_class.empty()) filled += " " + std::string(css_class);
  return element("span", element("span", "", filled + "\" style=\"width:" + width + "\""),
                 "class=\"bar\"");
}

}  // namespace moil::daemon::ctl::html
