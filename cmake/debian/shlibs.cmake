# Run by CPack before it asks dpkg-shlibdeps: the build of OpenBLAS with OpenMP is needed; Debian's own table would take
# any.
if(CPACK_MOIL_OPENBLAS_OPENMP)
  file(WRITE "${CPACK_TEMPORARY_DIRECTORY}/debian/shlibs.local" "libopenblas 0 libopenblas0-openmp\n")
endif()
