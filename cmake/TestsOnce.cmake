# Every test in one build of two: with MOIL_TESTS_ONCE a plain build leaves out what the sanitizers'
# build runs. scripts/test sets it; a developer's build has all tests.
option(MOIL_TESTS_ONCE "Leave out the tests that the sanitizers' build runs" OFF)

# moil_tests_once(VARIABLE [FOLDER ...]): keeps, of a list of sources, the tests that say that a plain build must
# run them (tests/plain_build.h), those in one of the folders, and the files that are no tests. Nothing is kept if
# there is no such test.
function(moil_tests_once variable)
  if(NOT MOIL_TESTS_ONCE)
    return()
  endif()
  set(tests ${${variable}})
  set(others ${tests})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER others EXCLUDE REGEX "_test\\.cc$")
  set(kept "")
  list(JOIN ARGN "|" folders)
  foreach(test ${tests})
    file(STRINGS ${test} needs REGEX "MOIL_NEEDS_(PLAIN_BUILD|TRUE_MEMORY|BOTH_BUILDS)" LIMIT_COUNT 1)
    if(needs OR (folders AND test MATCHES "/(${folders})/"))
      list(APPEND kept ${test})
    endif()
  endforeach()
  if(kept)
    list(APPEND kept ${others})
  endif()
  set(${variable} ${kept} PARENT_SCOPE)
endfunction()
