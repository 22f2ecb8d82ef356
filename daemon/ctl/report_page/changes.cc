#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/sections.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

// Base64, as moild made it; else nothing.
bool is_base64(const std::string& text) {
  return !text.empty() && text.find_first_not_of(
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                              "0123456789+/=") == std::string::npos;
}

std::string picture(const std::string& digest, const Thumbnails& thumbnails) {
  const auto found = thumbnails.find(digest);
  if (found == thumbnails.end()) return html::element("div", "no picture", "class=\"none\"");
  const Thumbnail& thumbnail = found->second;
  if (!is_base64(thumbnail.jpeg))
    return html::element("div", html::words(thumbnail.why_not), "class=\"none\"");
  return "<img alt=\"" + html::words(thumbnail.name) + "\" title=\"" + html::words(thumbnail.name) +
         "\" width=\"" + std::to_string(thumbnail.width) + "\" height=\"" +
         std::to_string(thumbnail.height) + "\" src=\"data:image/jpeg;base64," + thumbnail.jpeg +
         "\">";
}

std::string said(const Json& answer) {
  return answer.is_string() ? html::name(answer) : html::element("em", "nothing");
}

std::string figure(const Json& sample, const Thumbnails& thumbnails, const std::string& tone) {
  const std::string after = html::element("b", said(at(sample, "/after")), tone);
  return html::element(
             "figure",
             picture(cell(at(sample, "/digest")), thumbnails) +
                 html::element(
                     "figcaption",
                     html::element("s", said(at(sample, "/before"))) + " → " + after + "<br>" +
                         html::element("small", "is " + html::name(at(sample, "/label"))))) +
         "\n";
}

std::string group(const Json& changed, const std::string& which, const Thumbnails& thumbnails) {
  const Json list = at(changed, ("/" + which).c_str());
  const auto count = number_at(changed, ("/" + which + "_count").c_str());
  if (!list.is_array() || list.empty()) return "";
  std::string figures;
  for (const Json& sample : list)
    figures += figure(sample, thumbnails, which == "right" ? "class=\"good\"" : "class=\"bad\"");
  std::string title = "Became " + which + ": " + formatted(Json(count.value_or(0)), "%.0f");
  if (count && *count > static_cast<double>(list.size()))
    title += ", of which " + std::to_string(list.size()) + " are shown";
  return html::element("h3", title) + "\n" + html::element("div", figures, "class=\"photos\"") +
         "\n";
}

}  // namespace

std::string changes_section(const Json& job, const Thumbnails& thumbnails) {
  const Json changed = at(job, "/result/details/changed");
  const std::string groups =
      group(changed, "wrong", thumbnails) + group(changed, "right", thumbnails);
  if (groups.empty()) return "";
  return html::section(
      "Samples whose answer changed",
      html::paragraph("What the model said of your held-out samples before the night, "
                      "and what it says now.",
                      "class=\"remark\"") +
          groups);
}

}  // namespace moil::daemon::ctl
