#include "daemon/review/assets.h"

#include <array>

namespace moil::review {

extern const std::string_view kPage;
extern const std::string_view kStyle;
extern const std::string_view kDecisionsScript;
extern const std::string_view kGridScript;
extern const std::string_view kLabelsScript;
extern const std::string_view kPicturesScript;
extern const std::string_view kPlayerScript;
extern const std::string_view kReviewScript;
extern const std::string_view kSamplesScript;
extern const std::string_view kSelectionScript;
extern const std::string_view kServerScript;
extern const std::string_view kStateScript;

std::span<const Asset> assets() {
  constexpr const char* kHtml = "text/html; charset=utf-8";
  constexpr const char* kCss = "text/css; charset=utf-8";
  constexpr const char* kJavaScript = "text/javascript; charset=utf-8";
  static const std::array<Asset, 12> all = {{
      {"/", kPage, kHtml},
      {"/review.css", kStyle, kCss},
      {"/decisions.js", kDecisionsScript, kJavaScript},
      {"/grid.js", kGridScript, kJavaScript},
      {"/labels.js", kLabelsScript, kJavaScript},
      {"/pictures.js", kPicturesScript, kJavaScript},
      {"/player.js", kPlayerScript, kJavaScript},
      {"/review.js", kReviewScript, kJavaScript},
      {"/samples.js", kSamplesScript, kJavaScript},
      {"/selection.js", kSelectionScript, kJavaScript},
      {"/server.js", kServerScript, kJavaScript},
      {"/state.js", kStateScript, kJavaScript},
  }};
  return all;
}

}  // namespace moil::review
