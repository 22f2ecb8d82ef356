# CPack: one Debian package of everything that `cmake --install` puts in place. scripts/package runs it.
#
# The maintainer scripts are cmake/debian/*; they are completed here with what they must know of the
# sources.
set(package_folder ${PROJECT_BINARY_DIR}/debian)

# number_in(VARIABLE FILE NAME): the value of the constant NAME in a header.
function(number_in variable file name)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${file} line REGEX "constexpr .*${name} = [0-9]+;")
  if(NOT "${line}" MATCHES "= ([0-9]+)")
    message(FATAL_ERROR "${file} does not say ${name}, which the package's scripts need")
  endif()
  set(${variable} ${CMAKE_MATCH_1} PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
endfunction()
number_in(STATE_FORMAT daemon/state/schema.h kSchemaVersion)
number_in(LABELS_FORMAT datasets/labels/schema.h kLabelSchemaVersion)

# What the daemon keeps in its state folder, as daemon/spec/state_layout.h names it.
file(STRINGS ${PROJECT_SOURCE_DIR}/daemon/spec/state_layout.h lines REGEX "const { return root_ / ")
set(STATE_NAMES "")
foreach(line ${lines})
  string(REGEX REPLACE ".*root_ / \"([^\"]+)\".*" "\\1" name "${line}")
  string(APPEND STATE_NAMES " ${name}")
endforeach()
string(APPEND STATE_NAMES " moild.db-wal moild.db-shm")
string(STRIP "${STATE_NAMES}" STATE_NAMES)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/daemon/spec/state_layout.h)

string(TIMESTAMP PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)  # or SOURCE_DATE_EPOCH
set(PACKAGE_CONTACT "moild maintainers <maintainers@moild.invalid>")
foreach(file preinst postinst prerm postrm changelog)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/debian/${file}.in ${package_folder}/${file} @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/debian/conffiles ${package_folder}/conffiles COPYONLY)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME moild)
set(CPACK_PACKAGE_VENDOR moild)
set(CPACK_PACKAGE_CONTACT ${PACKAGE_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "overnight personalization of neural networks on the device")
set(CPACK_PACKAGE_DESCRIPTION
"A service that personalizes neural networks on the device's own data while
it is idle at night. By day, samples are labelled; at night they are mixed
with some of the data that the network was first trained on, the last layers
are trained, and the new network is put in service where nothing was
forgotten. Nothing leaves the device: the service has no network.
.
The command line is moilctl(1). What prepares networks before a device is
shipped is here, too: moil-pretrain(1), moil-import(1),
moil-export(1) and moil-plan(1).")
# The paths in unit and programs are those of the system, not of the folder that is packed.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION misc)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "systemd | systemd-standalone-sysusers | systemd-sysusers, systemd | systemd-standalone-tmpfiles | systemd-tmpfiles")
if(OPENBLAS_OPENMP)
  set(CPACK_MOIL_OPENBLAS_OPENMP ON)
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/shlibs.cmake)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS xdg-utils)  # opens the page of moilctl review
set(CPACK_DEBIAN_PACKAGE_PREDEPENDS "init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "")
foreach(file preinst postinst prerm postrm conffiles)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${package_folder}/${file})
endforeach()
if(CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${MOIL_DEBIAN_ARCHITECTURE})
endif()
include(CPack)
