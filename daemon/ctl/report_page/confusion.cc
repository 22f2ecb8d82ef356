#include <algorithm>
#include <map>
#include <set>

#include "base/svg.h"
#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/sections.h"
#include "daemon/ctl/text.h"
#include "datasets/labels/denial.h"

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kMostRows = 20, kMostColumns = 26, kMostPairs = 20;

struct Label {
  std::string name;
  double held_out = 0, right = 0;
};

struct Pair {
  std::string label, said;  // said: empty if no label was said
  double count = 0;
};

std::vector<Label> labels_of(const Json& confusion) {
  std::vector<Label> labels;
  for (const Json& label : at(confusion, "/labels"))
    labels.push_back({data::spoken_label(cell(at(label, "/label"))),
                      number_at(label, "/held_out").value_or(0),
                      number_at(label, "/right").value_or(0)});
  return labels;
}

std::vector<Pair> pairs_of(const Json& confusion) {
  std::vector<Pair> pairs;
  for (const Json& pair : at(confusion, "/pairs")) {
    const Json said = at(pair, "/said");
    pairs.push_back({data::spoken_label(cell(at(pair, "/label"))),
                     said.is_string() ? cell(said) : "", number_at(pair, "/count").value_or(0)});
  }
  return pairs;
}

std::string count_cell(double count, double of, bool right) {
  if (count == 0) return html::element("td", "");
  const std::string share = svg::number(of > 0 ? 100 * std::min(1.0, count / of) : 0) + "%";
  return html::element(
      "td", formatted(Json(count), "%.0f"),
      std::string("class=\"") + (right ? "hit" : "miss") + "\" style=\"--share:" + share + "\"");
}

// Labels down, what was said across.
class Matrix {
 public:
  Matrix(std::vector<Label> labels, const std::vector<Pair>& pairs) : labels_(std::move(labels)) {
    std::ranges::sort(labels_, {}, &Label::name);
    for (const Label& label : labels_) columns_.push_back(label.name);
    std::set<std::string> own(columns_.begin(), columns_.end());
    for (const Pair& pair : pairs) {
      counts_[{pair.label, pair.said}] += pair.count;
      if (own.insert(pair.said).second) columns_.push_back(pair.said);
    }
  }
  bool fits() const { return labels_.size() <= kMostRows && columns_.size() <= kMostColumns; }

  std::string draw() const {
    std::string head = html::element("th", "is ↓ said →");
    for (const std::string& said : columns_)
      head +=
          html::element("th", html::element("span", said.empty() ? "nothing" : html::name(said)));
    std::string rows;
    for (const Label& label : labels_) {
      std::string cells = html::element("th", html::name(label.name));
      for (const std::string& said : columns_)
        cells += count_cell(count(label, said), label.held_out, said == label.name);
      rows += html::element("tr", cells) + "\n";
    }
    return html::element("div",
                         html::element("table",
                                       html::element("thead", html::element("tr", head)) + "\n" +
                                           html::element("tbody", rows),
                                       "class=\"matrix\""),
                         "class=\"wide\"") +
           "\n";
  }

 private:
  double count(const Label& label, const std::string& said) const {
    if (said == label.name) return label.right;
    const auto found = counts_.find({label.name, said});
    return found == counts_.end() ? 0 : found->second;
  }

  std::vector<Label> labels_;
  std::vector<std::string> columns_;
  std::map<std::pair<std::string, std::string>, double> counts_;
};

std::string pair_table(const std::vector<Pair>& pairs, const std::vector<Label>& labels) {
  std::map<std::string, double> held_out;
  for (const Label& label : labels) held_out[label.name] = label.held_out;
  std::string rows;
  for (std::size_t i = 0; i < std::min(pairs.size(), kMostPairs); ++i) {
    const Pair& pair = pairs[i];
    const double of = held_out[pair.label];
    rows += html::row({html::name(pair.label),
                       pair.said.empty() ? "<em>nothing</em>" : html::name(pair.said),
                       formatted(Json(pair.count), "%.0f") +
                           (of > 0 ? " of " + formatted(Json(of), "%.0f") : "")});
  }
  return html::table({"label", "taken for", "held-out samples"}, rows);
}

}  // namespace

std::string confusion_section(const Json& job) {
  const Json confusion = at(job, "/result/details/confusion");
  const std::vector<Label> labels = labels_of(confusion);
  const std::vector<Pair> pairs = pairs_of(confusion);
  if (labels.empty()) return "";
  const Matrix matrix(labels, pairs);
  const bool whole = number_at(confusion, "/more/labels").value_or(0) == 0 &&
                     number_at(confusion, "/more/pairs").value_or(0) == 0;
  std::string body;
  if (pairs.empty()) {
    body = html::paragraph("No held-out sample of yours is taken for anything else.");
  } else if (whole && matrix.fits()) {
    body = matrix.draw();
  } else {
    body = html::paragraph("The labels that are taken for others most often.", "class=\"remark\"") +
           pair_table(pairs, labels);
  }
  return html::section("What your labels are taken for", body);
}

}  // namespace moil::daemon::ctl
