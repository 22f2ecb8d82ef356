#include <algorithm>

#include "base/svg.h"
#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/sections.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kMostShown = 24;  // of a side

struct LabelChange {
  Json name;
  double held_out = 0, before = 0, after = 0;  // samples; of them right

  double change() const { return after - before; }
};

std::vector<LabelChange> changes_of(const Json& labels, const std::string& side) {
  std::vector<LabelChange> found;
  for (const Json& label : labels) {
    const auto held_out = number_at(label, ("/" + side + "/held_out").c_str());
    const auto before = number_at(label, ("/" + side + "/before").c_str());
    const auto after = number_at(label, ("/" + side + "/after").c_str());
    if (held_out && before && after && *held_out > 0)
      found.push_back({at(label, "/label"), *held_out, *before, *after});
  }
  return found;
}

// Those that lost most, then those that gained most.
std::vector<LabelChange> most_changed(std::vector<LabelChange> all) {
  const auto size = [](const LabelChange& label) { return std::abs(label.change()); };
  std::ranges::stable_sort(all, std::ranges::greater{}, size);
  all.resize(std::min(all.size(), kMostShown));
  std::ranges::stable_sort(all, {}, &LabelChange::change);
  return all;
}

std::string position(double share) { return "left:" + svg::number(100 * share) + "%"; }

// From a ring, before, to a dot, after.
std::string track(const LabelChange& label) {
  const double was = label.before / label.held_out, is = label.after / label.held_out;
  const std::string between =
      position(std::min(was, is)) + ";width:" + svg::number(100 * std::abs(is - was)) + "%";
  return html::element("span",
                       html::element("i", "", "class=\"way\" style=\"" + between + "\"") +
                           html::element("i", "", "class=\"was\" style=\"" + position(was) + "\"") +
                           html::element("i", "", "class=\"is\" style=\"" + position(is) + "\""),
                       label.change() < 0   ? "class=\"track worse\""
                       : label.change() > 0 ? "class=\"track better\""
                                            : "class=\"track\"");
}

std::string count_text(double count) { return formatted(Json(count), "%.0f"); }

std::string side_table(const std::string& title, const std::vector<LabelChange>& all,
                       const std::string& right = "right") {
  if (all.empty()) return "";
  std::string rows;
  const std::vector<LabelChange> shown = most_changed(all);
  for (const LabelChange& label : shown) {
    rows +=
        html::row({html::name(label.name), track(label),
                   count_text(label.before) + " → " + html::element("b", count_text(label.after)) +
                       " of " + count_text(label.held_out)});
  }
  std::string html = html::element("h3", title) + "\n" +
                     html::table({"label", "share that is " + right, "held out, " + right}, rows,
                                 "class=\"tracks\"");
  if (all.size() > shown.size())
    html += html::paragraph(
        "and " + std::to_string(all.size() - shown.size()) + " labels that changed less",
        "class=\"remark\"");
  return html::element("div", html) + "\n";
}

}  // namespace

std::string labels_section(const Json& job) {
  const Json labels = at(job, "/result/details/labels");
  const bool is_agreement = metric_name(job.at("result"), "global") == "agreement";
  const std::string both = side_table("Your samples", changes_of(labels, "local")) +
                           side_table("What it knew before", changes_of(labels, "global"),
                                      is_agreement ? "answered as then" : "right");
  if (both.empty()) return "";
  return html::section("What got better and worse",
                       html::paragraph("A ring is the model before the night, a dot the one after.",
                                       "class=\"remark\"") +
                           html::element("div", both, "class=\"pair\"") + "\n");
}

}  // namespace moil::daemon::ctl
