// The review's page, in the program.
#pragma once

#include <string_view>

namespace moil::review {

extern const std::string_view kPage;    // page/review.html
extern const std::string_view kStyle;   // page/review.css
extern const std::string_view kScript;  // page/review.js

}  // namespace moil::review
