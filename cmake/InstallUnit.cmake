# Part of `cmake --install`: the configuration and the unit, with the paths of the prefix that is
# installed to. The configuration of what lies in /usr is in /etc.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND NOT IS_ABSOLUTE "${MOIL_CONFIG_FOLDER}")
  set(MOIL_CONFIG_FOLDER "/${MOIL_CONFIG_FOLDER}")
endif()
foreach(path BINDIR CONFIG_FOLDER DOCDIR)
  cmake_path(ABSOLUTE_PATH MOIL_${path} BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE OUTPUT_VARIABLE ${path})
endforeach()
file(INSTALL "${MOIL_CONFIG}" DESTINATION "${CONFIG_FOLDER}")
configure_file("${MOIL_UNIT}" "${MOIL_UNIT_MADE}" @ONLY)
file(INSTALL "${MOIL_UNIT_MADE}" DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/system")
