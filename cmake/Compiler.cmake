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
  # It takes precompiled headers only if it may trust their definitions and times.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# The service, which has no long loop, and tests are compiled in half the time at -O1. What a target
# says comes after the build type's own.
add_library(moil_options INTERFACE)
add_library(moil_light_options INTERFACE)
target_compile_options(moil_light_options INTERFACE $<$<CONFIG:Release>:-O1>)
add_library(moil_test_options INTERFACE)
target_compile_options(moil_test_options INTERFACE $<$<CONFIG:Release>:-O1>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(moil_options INTERFACE -fpch-preprocess)  # for ccache
  # At -O1 GCC sees fewer of the paths on which members are set.
  target_compile_options(moil_test_options INTERFACE -Wno-maybe-uninitialized)
  target_compile_options(moil_light_options INTERFACE -Wno-maybe-uninitialized)
endif()
# If several sources are compiled at once, one's locals meet the globals of the others.
set(at_once $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
target_compile_options(moil_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wnon-virtual-dtor -Woverloaded-virtual -fno-omit-frame-pointer
  $<$<NOT:${at_once}>:-Wshadow> $<$<AND:${at_once},$<CXX_COMPILER_ID:GNU>>:-Wshadow=local>)
# GCC 12 sees overlaps and endless lengths in "literal" + std::string that are not there (its bug
# 105651), the latter if <string> is precompiled. The sanitizers look for real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(moil_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
endif()
target_include_directories(moil_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(moil_options INTERFACE MOIL_VERSION="${PROJECT_VERSION}")
if(MOIL_SANITIZE)
  # What sanitizers weave in hides from GCC that members are set; the other builds still look.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(moil_options INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_compile_options(moil_options INTERFACE -fsanitize=${MOIL_SANITIZE} -fno-sanitize-recover=all)
  # What sanitizers weave in is dear to compile and to optimize. Tests are not what is tested; in the
  # service, which casts no bytes to words, AddressSanitizer stops at a null pointer as well.
  target_compile_options(moil_test_options INTERFACE -O0 -fno-sanitize=undefined)
  target_compile_options(moil_light_options INTERFACE -O0 -fno-sanitize=null,alignment)
  target_link_options(moil_options INTERFACE -fsanitize=${MOIL_SANITIZE})
endif()
