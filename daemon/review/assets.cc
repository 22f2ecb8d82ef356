#include "daemon/review/assets.h"

#include <array>

namespace moil::review {

extern const std::string_view kClosedPage;
extern const std::string_view kPage;
extern const std::string_view kStyle;
extern const std::string_view kCompareScript;
extern const std::string_view kDecisionsScript;
extern const std::string_view kDropScript;
extern const std::string_view kEndingScript;
extern const std::string_view kGridScript;
extern const std::string_view kHomeScript;
extern const std::string_view kKeysScript;
extern const std::string_view kLabelsScript;
extern const std::string_view kLargeScript;
extern const std::string_view kModelScript;
extern const std::string_view kPicturesScript;
extern const std::string_view kPlayerScript;
extern const std::string_view kReviewScript;
extern const std::string_view kSamplesScript;
extern const std::string_view kSelectionScript;
extern const std::string_view kServerScript;
extern const std::string_view kStateScript;
extern const std::string_view kTabsScript;

std::span<const Asset> assets() {
  constexpr const char* kHtml = "text/html; charset=utf-8";
  constexpr const char* kCss = "text/css; charset=utf-8";
  constexpr const char* kJavaScript = "text/javascript; charset=utf-8";
  static const std::array<Asset, 20> all = {{
      {"/", kPage, kHtml},
      {"/review.css", kStyle, kCss},
      {"/compare.js", kCompareScript, kJavaScript},
      {"/decisions.js", kDecisionsScript, kJavaScript},
      {"/drop.js", kDropScript, kJavaScript},
      {"/ending.js", kEndingScript, kJavaScript},
      {"/grid.js", kGridScript, kJavaScript},
      {"/home.js", kHomeScript, kJavaScript},
      {"/keys.js", kKeysScript, kJavaScript},
      {"/labels.js", kLabelsScript, kJavaScript},
      {"/large.js", kLargeScript, kJavaScript},
      {"/model.js", kModelScript, kJavaScript},
      {"/pictures.js", kPicturesScript, kJavaScript},
      {"/player.js", kPlayerScript, kJavaScript},
      {"/review.js", kReviewScript, kJavaScript},
      {"/samples.js", kSamplesScript, kJavaScript},
      {"/selection.js", kSelectionScript, kJavaScript},
      {"/server.js", kServerScript, kJavaScript},
      {"/state.js", kStateScript, kJavaScript},
      {"/tabs.js", kTabsScript, kJavaScript},
  }};
  return all;
}

std::string_view closed_page() { return kClosedPage; }

}  // namespace moil::review
