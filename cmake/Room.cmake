# moil_library(NAME [FOLDERS ...] [WITHOUT ...] LIBS ...): the static library moil_NAME of every
# source below the folder NAME, or below FOLDERS if a room holds more than one library.
function(moil_library name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;WITHOUT;LIBS" ${ARGN})
  if(NOT ARG_FOLDERS)
    set(ARG_FOLDERS ${name})
  endif()
  set(patterns ${ARG_FOLDERS})
  list(TRANSFORM patterns REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.cc")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  foreach(folder ${ARG_WITHOUT})
    list(FILTER sources EXCLUDE REGEX "/${folder}/")
  endforeach()
  if(NOT MOIL_HAVE_ONEDNN)
    list(FILTER sources EXCLUDE REGEX "/onednn_[^/]*\\.cc$")
  endif()
  if(MOIL_HAVE_OPENCL)
    list(FILTER sources EXCLUDE REGEX "/without_opencl\\.cc$")
  else()
    list(FILTER sources EXCLUDE REGEX "/engine/opencl/")
  endif()
  if(NOT sources)  # an empty room
    add_library(moil_${name} INTERFACE)
    target_link_libraries(moil_${name} INTERFACE moil_options ${ARG_LIBS})
    return()
  endif()
  add_library(moil_${name} STATIC ${sources})
  target_link_libraries(moil_${name} PUBLIC moil_options ${ARG_LIBS})
  moil_quick_build(moil_${name})
endfunction()

# moil_discover_suites(PROGRAM [PREFIX TEXT] PROPERTIES ...): a test of CTest for each suite of a GoogleTest
# program: a process for each of thousands of tests would take longer to begin than to run. The suite is
# skipped if all of its tests are: then the last words are a skipped one's name.
function(moil_discover_suites program)
  cmake_parse_arguments(ARG "" "PREFIX" "PROPERTIES" ${ARGN})
  set(suites ${CMAKE_CURRENT_BINARY_DIR}/${program}_suites.cmake)
  set(properties WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} SKIP_REGULAR_EXPRESSION "PASSED  . 0 tests.*SKIPPED . [A-Za-z0-9_/.]+[^A-Za-z0-9_/.]*$" ${ARG_PROPERTIES})
  list(TRANSFORM properties REPLACE "(.+)" "\"\\1\"")
  list(JOIN properties " " properties)
  add_custom_command(TARGET ${program} POST_BUILD BYPRODUCTS ${suites} VERBATIM
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${program}> -D FILE=${suites} -D "PREFIX=${ARG_PREFIX}"
            -D "PROPERTIES=${properties}" -P ${PROJECT_SOURCE_DIR}/cmake/Suites.cmake)
  set(either ${CMAKE_CURRENT_BINARY_DIR}/${program}_tests.cmake)
  file(WRITE ${either} "if(EXISTS \"${suites}\")\n  include(\"${suites}\")\n"
                       "  include(\"${PROJECT_SOURCE_DIR}/cmake/Costs.cmake\")\nelse()\n"
                       "  add_test(${program}_is_not_built ${program}_is_not_built)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${either})
endfunction()

# moil_test_program(NAME SOURCES ... [WITH ...] LIBS ... [BOTH FOLDER ...] [HEADERS ...] [DEFINITIONS ...] [PROGRAMS ...]
# [TIMEOUT SECONDS]): a GoogleTest program of SOURCES, together WITH sources of what it tests. BOTH: the folders
# whose tests are in the plain build and in that of the sanitizers (TestsOnce.cmake). HEADERS are precompiled beside
# GoogleTest's; PROGRAMS are built before it. TIMEOUT: of a suite, 300 s unless given.
function(moil_test_program name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;WITH;LIBS;BOTH;HEADERS;DEFINITIONS;PROGRAMS" ${ARGN})
  moil_tests_once(ARG_SOURCES ${ARG_BOTH})
  if(NOT ARG_SOURCES)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES} ${ARG_WITH})
  target_compile_definitions(${name} PRIVATE MOIL_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${ARG_DEFINITIONS})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} moil_test_options GTest::gtest GTest::gmock GTest::gtest_main)
  moil_quick_build(${name} HEADERS <gmock/gmock.h> <gtest/gtest.h> ${ARG_HEADERS})
  if(ARG_PROGRAMS)
    add_dependencies(${name} ${ARG_PROGRAMS})
  endif()
  moil_discover_suites(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()

# moil_tests(NAME ...): the program NAME_tests of every source below tests/NAME; the rest as above.
function(moil_tests name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*.cc)
  moil_test_program(${name}_tests SOURCES ${sources} ${ARGN})
endfunction()
