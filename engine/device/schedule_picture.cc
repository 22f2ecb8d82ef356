#include "engine/device/schedule_picture.h"

#include <algorithm>
#include <cstdio>

#include "base/index.h"
#include "base/svg.h"

namespace moil {
namespace {

constexpr double kColumnsLeft = 300, kColumnsTop = 84, kRow = 16, kColumn = 90, kGap = 6;
constexpr const char* kColours[kMostProcessors] = {"#4878a8", "#e7a13d", "#5b9a57", "#8b6bb0"};
constexpr const char* kTransfer = "#b03a2e";

std::string name_of(ProcessorId id) {
  return id == kCpu ? "CPU" : std::string("processor ") + letter_of(id);
}

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1)
    std::snprintf(text, sizeof text, "%.3g ms", 1e3 * seconds);
  else
    std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

class SchedulePicture {
 public:
  SchedulePicture(const SelectionProblem& problem, const Schedule& schedule)
      : problem_(problem), schedule_(schedule), transfers_(transfers_in(problem, schedule)) {}

  std::string draw(const std::string& title) {
    const ScheduleCost cost = cost_of(problem_, schedule_);
    const double written = 40 + 9.0 * static_cast<double>(title.size());  // the title's, about
    out_ = svg::begin(std::max(written, kColumnsLeft + 3 * (kColumn + kGap) + 40), height());
    out_ += svg::text(20, 24, title, "font-size=\"16\" font-weight=\"bold\"");
    out_ +=
        svg::text(20, 42,
                  time_text(cost.seconds()) + " a step, " + std::to_string(cost.transfers()) +
                      " transfers (" + std::to_string(cost.transfers_within) + " within layers)");
    legend();
    for (int p = 0; p < kPasses; ++p)
      out_ += svg::text(x(p) + kColumn / 2, kColumnsTop - 6, to_string(static_cast<Pass>(p)),
                        "text-anchor=\"middle\"");
    for (std::size_t layer = 0; layer < schedule_.size(); ++layer) add(layer);
    return out_ + "</svg>\n";
  }

 private:
  double height() const { return kColumnsTop + kRow * static_cast<double>(schedule_.size()) + 24; }
  double x(int pass) const { return kColumnsLeft + pass * (kColumn + kGap); }
  double y(std::size_t layer) const { return kColumnsTop + kRow * static_cast<double>(layer); }

  void legend() {
    double left = 20;
    const auto add = [&](const std::string& colour, const std::string& words) {
      out_ += svg::box(left, 54, 10, 10, "fill=\"" + colour + "\"");
      out_ += svg::text(left + 14, 63, words);
      left += 130;
    };
    for (ProcessorId id = kCpu; id <= problem_.transfers.size(); ++id)
      add(kColours[id], name_of(id));
    add(kTransfer, "transfers before it");
  }

  void add(std::size_t layer) {
    const SelectionLayer& l = problem_.layers[layer];
    out_ += svg::text(kColumnsLeft - 10, y(layer) + 11, l.name, "text-anchor=\"end\"");
    for (int p = 0; p < kPasses; ++p)
      if (l.passes[at(p)]) add_pass(layer, p, *l.passes[at(p)]);
  }

  void add_pass(std::size_t layer, int p, const PassTimes& times) {
    std::string tip = problem_.layers[layer].name + " " + to_string(static_cast<Pass>(p)) + ":";
    for (ProcessorId id = kCpu; id < times.size(); ++id)
      if (times[id]) tip += (id == kCpu ? " " : ", ") + name_of(id) + " " + time_text(*times[id]);
    std::size_t count = 0;
    for (const ScheduledTransfer& t : transfers_) {
      if (t.layer != static_cast<int>(layer) || static_cast<int>(t.pass) != p) continue;
      ++count;
      tip += std::string("; ") + (t.takes ? "takes " : "gets back ") + t.tensor;
    }
    out_ += svg::box(x(p), y(layer) + 1, kColumn, kRow - 2,
                     "fill=\"" + std::string(kColours[schedule_[layer][at(p)]]) + "\"", tip);
    if (count == 0) return;
    out_ +=
        svg::box(x(p), y(layer) + 1, 14, kRow - 2, "fill=\"" + std::string(kTransfer) + "\"", tip);
    out_ += svg::text(x(p) + 7, y(layer) + 12, std::to_string(count),
                      "text-anchor=\"middle\" fill=\"white\" pointer-events=\"none\"");
  }

  const SelectionProblem& problem_;
  const Schedule& schedule_;
  const std::vector<ScheduledTransfer> transfers_;
  std::string out_;
};

}  // namespace

std::string draw_schedule(const std::string& title, const SelectionProblem& problem,
                          const Schedule& schedule) {
  return SchedulePicture(problem, schedule).draw(title);
}

}  // namespace moil
