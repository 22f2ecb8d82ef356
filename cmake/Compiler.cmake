# Language level, warnings and sanitizers for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(moil_options INTERFACE)
target_compile_options(moil_options INTERFACE -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor
                                              -Woverloaded-virtual -fno-omit-frame-pointer)
# GCC 12 sees overlaps in "literal" + std::string that are not there (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(moil_options INTERFACE -Wno-restrict)
endif()
target_include_directories(moil_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(moil_options INTERFACE MOIL_VERSION="${PROJECT_VERSION}")
if(MOIL_SANITIZE)
  # What sanitizers weave in hides from GCC that members are set; the other builds still look.
  target_compile_options(moil_options INTERFACE -Wno-maybe-uninitialized)
  target_compile_options(moil_options INTERFACE -fsanitize=${MOIL_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(moil_options INTERFACE -fsanitize=${MOIL_SANITIZE})
endif()
