#include "daemon/ctl/jobs/event_text.h"

#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {

std::string curve_text(const Json& event) {
  std::string line = "epoch " + cell(event.value("epoch", Json()));
  if (event.contains("loss") && event["loss"].is_number())
    line += "  loss " + formatted(event["loss"], "%.4f");
  for (const char* which : {"global", "local"}) {
    if (event.contains(which) && event[which].is_number())
      line += std::string("  ") + which + " " + quality_text(event[which], event);
  }
  return line;
}

std::string event_text(const Json& event) {
  const std::string kind = event.value("event", "");
  if (kind == "curve") return curve_text(event);
  if (kind == "note") return event.value("message", "");
  if (kind == "stage") return "stage " + event.value("stage", "");
  if (kind != "state") return kind;
  const std::string why = event.value("message", "");
  return event.value("state", "") + (why.empty() ? "" : ": " + why);
}

}  // namespace moil::daemon::ctl
