#include "datasets/labels/service_names.h"

#include <algorithm>
#include <array>

namespace moil::data {
namespace {

// macOS, Windows, Linux, and Synology's and QNAP's network drives have these.
constexpr std::array<std::string_view, 10> kServices{"__MACOSX",     "@eaDir",
                                                     "@tmp",         "#recycle",
                                                     "$RECYCLE.BIN", "System Volume Information",
                                                     "lost+found",   "@Recycle",
                                                     "Thumbs.db",    "desktop.ini"};

}  // namespace

bool is_service_name(std::string_view name) {
  return name.starts_with('.') || std::ranges::find(kServices, name) != kServices.end();
}

}  // namespace moil::data
