# moil_embed(TARGET NAMESPACE NAME FILE): FILE's text as `extern const std::string_view NAMESPACE::NAME`,
# which a header of the caller's declares. The text must not hold `)embedded"`.
function(moil_embed target namespace name file)
  cmake_path(ABSOLUTE_PATH file OUTPUT_VARIABLE source)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.cc)
  file(CONFIGURE OUTPUT ${made} @ONLY CONTENT [[#include <string_view>
namespace @namespace@ {
extern const std::string_view @name@;
const std::string_view @name@ = R"embedded(@text@)embedded";
}  // namespace @namespace@
]])
  target_sources(${target} PRIVATE ${made})
endfunction()
