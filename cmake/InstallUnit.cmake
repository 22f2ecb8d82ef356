# Part of `cmake --install`: the unit, with the paths of the prefix that is installed to.
foreach(path BINDIR CONFIG_FOLDER DOCDIR)
  cmake_path(ABSOLUTE_PATH MOIL_${path} BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE OUTPUT_VARIABLE ${path})
endforeach()
configure_file("${MOIL_UNIT}" "${MOIL_UNIT_MADE}" @ONLY)
file(INSTALL "${MOIL_UNIT_MADE}" DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/system")
