# Writes FILE: a test of CTest for each suite that PROGRAM has, with PROPERTIES, its name behind PREFIX.
# Run by moil_discover_suites() once the program is built.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY TIMEOUT 60)
# Tests stand below their suite, indented; what follows their name is any text.
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\." suites "${listed}")
set(script "")
foreach(suite ${suites})
  string(REGEX REPLACE "[\n.]" "" suite "${suite}")
  string(APPEND script "add_test(\"${PREFIX}${suite}\" \"${PROGRAM}\" \"--gtest_filter=${suite}.*\")\n"
                       "set_tests_properties(\"${PREFIX}${suite}\" PROPERTIES ${PROPERTIES})\n")
endforeach()
file(WRITE ${FILE} "${script}")
