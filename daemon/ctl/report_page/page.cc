#include "daemon/ctl/report_page/page.h"

#include "daemon/ctl/embedded.h"
#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/sections.h"

namespace moil::daemon::ctl {
namespace {

// What a browser is told to hold the page to.
constexpr const char* kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n";

std::string head(const Json& job) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
         std::string(kPolicy) +
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n" +
         html::element(
             "title", "Job " + html::words(at(job, "/id")) + ": " + html::words(at(job, "/name"))) +
         "\n<style>\n" + std::string(kReportStyle) + "</style>\n</head>\n";
}

}  // namespace

std::string draw_report_page(const Json& job, const Thumbnails& thumbnails, const Json& nights) {
  return head(job) + "<body>\n<main>\n" + summary_part(job) + nights_section(job, nights) +
         curves_section(job) + labels_section(job) + changes_section(job, thumbnails) +
         confusion_section(job) + left_out_section(job) + trials_section(job) + cost_section(job) +
         elastic_section(job) + provenance_section(job) + "</main>\n</body>\n</html>\n";
}

}  // namespace moil::daemon::ctl
