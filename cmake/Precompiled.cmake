# Most of a file's compile time is reading the same standard headers, so those are read once a target.
# Sources still include what they use: a build with MOIL_PRECOMPILE off (the fuzzers' is one) says
# where one does not.
option(MOIL_PRECOMPILE "Precompile the headers that most sources include" ON)

set(MOIL_STANDARD_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream>
                          <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream>
                          <string> <string_view> <thread> <utility> <vector>)

# moil_precompile(TARGET [HEADERS ...]): the standard headers and HEADERS, for a target of many files.
function(moil_precompile target)
  cmake_parse_arguments(ARG "" "" "HEADERS" ${ARGN})
  if(MOIL_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${MOIL_STANDARD_HEADERS} ${ARG_HEADERS})
  endif()
endfunction()
