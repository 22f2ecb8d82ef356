# What makes compiling quick. Most of a file's compile time is reading the same headers, those of the
# standard library and ours, so the former are read once a target and the latter once for several
# files (a unity build). Sources still include what they use, and names of a file's own are unique in
# their namespace; a build with MOIL_QUICK_BUILD off says where they do not.
option(MOIL_QUICK_BUILD "Precompile the headers that most sources include, and compile several sources at once" ON)

set(MOIL_STANDARD_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream>
                          <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream>
                          <string> <string_view> <thread> <utility> <vector>)

# moil_quick_build(TARGET [HEADERS ...]): for a target of several files; HEADERS are precompiled with
# the standard ones, if there are enough files to pay for it.
function(moil_quick_build target)
  cmake_parse_arguments(ARG "" "" "HEADERS" ${ARGN})
  if(NOT MOIL_QUICK_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A class of a source file may well have members of types that only this file knows.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  if(count GREATER 24)
    list(TRANSFORM ARG_HEADERS REPLACE "^([^<].*)" "${PROJECT_SOURCE_DIR}/\\1")
    target_precompile_headers(${target} PRIVATE ${MOIL_STANDARD_HEADERS} ${ARG_HEADERS})
  endif()
endfunction()
