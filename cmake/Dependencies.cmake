# Libraries by their Debian 12 packages; docs/dependencies.md says why each is here.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(LMDB REQUIRED IMPORTED_TARGET lmdb)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(JPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp libwebpdemux)
pkg_check_modules(EXIF REQUIRED IMPORTED_TARGET libexif)
pkg_check_modules(SNDFILE REQUIRED IMPORTED_TARGET sndfile)
pkg_check_modules(SAMPLERATE REQUIRED IMPORTED_TARGET samplerate)
pkg_check_modules(FFTW REQUIRED IMPORTED_TARGET fftw3)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(ARCHIVE REQUIRED IMPORTED_TARGET libarchive)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(PROTOBUF REQUIRED IMPORTED_TARGET protobuf)
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
find_program(FLATC flatc REQUIRED)
find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
find_package(CLI11 REQUIRED)

# What the engine computes with: OpenBLAS and Highway always, oneDNN if it is installed.
# OpenBLAS comes with pthreads, OpenMP or neither; Debian's alternatives prefer pthreads, which would
# be a second thread pool beside our own. Named by path, the OpenMP build is found first at run time.
add_library(moil_arithmetic INTERFACE)
find_library(OPENBLAS_OPENMP NAMES libopenblas.so.0 NO_DEFAULT_PATH
             PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp)
if(OPENBLAS_OPENMP)
  get_filename_component(OPENBLAS_OPENMP_FOLDER ${OPENBLAS_OPENMP} DIRECTORY)
  target_include_directories(moil_arithmetic SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIRS})
  target_link_libraries(moil_arithmetic INTERFACE ${OPENBLAS_OPENMP})
  list(APPEND CMAKE_INSTALL_RPATH ${OPENBLAS_OPENMP_FOLDER})
else()
  message(STATUS "OpenBLAS: no OpenMP build (libopenblas0-openmp); products of matrices use threads of their own")
  target_link_libraries(moil_arithmetic INTERFACE PkgConfig::OPENBLAS)
endif()
target_link_libraries(moil_arithmetic INTERFACE PkgConfig::HWY OpenMP::OpenMP_CXX)
set(MOIL_HAVE_ONEDNN OFF)
if(MOIL_WITH_ONEDNN)
  # By header and library: Debian's package configuration asks for OpenCL's headers, too.
  find_path(DNNL_INCLUDE_FOLDER oneapi/dnnl/dnnl.hpp)
  find_library(DNNL_LIBRARY dnnl)
  if(DNNL_INCLUDE_FOLDER AND DNNL_LIBRARY)
    set(MOIL_HAVE_ONEDNN ON)
    target_link_libraries(moil_arithmetic INTERFACE ${DNNL_LIBRARY})
    target_compile_definitions(moil_arithmetic INTERFACE MOIL_HAVE_ONEDNN=1)
  endif()
endif()
message(STATUS "oneDNN: ${MOIL_HAVE_ONEDNN}")
# The second processor: its folder is in the build if OpenCL's headers and CLBlast are.
set(MOIL_HAVE_OPENCL OFF)
if(MOIL_WITH_OPENCL)
  find_package(OpenCL QUIET)
  find_path(CLBLAST_INCLUDE_FOLDER clblast_c.h)
  find_library(CLBLAST_LIBRARY clblast)
  if(OpenCL_FOUND AND CLBLAST_INCLUDE_FOLDER AND CLBLAST_LIBRARY)
    set(MOIL_HAVE_OPENCL ON)
    target_link_libraries(moil_arithmetic INTERFACE ${CLBLAST_LIBRARY} OpenCL::OpenCL)
  endif()
endif()
message(STATUS "OpenCL processor: ${MOIL_HAVE_OPENCL}")

# What parses strangers' files; linked by the worker and tools only, never by the daemon.
add_library(moil_decoders INTERFACE)
target_link_libraries(moil_decoders INTERFACE PkgConfig::JPEG PkgConfig::PNG PkgConfig::WEBP
                      PkgConfig::EXIF PkgConfig::SNDFILE PkgConfig::SAMPLERATE PkgConfig::FFTW
                      PkgConfig::ARCHIVE ZLIB::ZLIB)

# The messages of ONNX files; the definitions choose the names that Debian's build has.
add_library(moil_onnx_schema INTERFACE)
target_compile_definitions(moil_onnx_schema INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(moil_onnx_schema INTERFACE ${ONNX_PROTO_LIBRARY} PkgConfig::PROTOBUF)

# The tables of TensorFlow Lite files, made of our description of those that are read.
set(MOIL_TFLITE_HEADER ${PROJECT_BINARY_DIR}/generated/tflite_generated.h)
add_custom_command(OUTPUT ${MOIL_TFLITE_HEADER} DEPENDS ${PROJECT_SOURCE_DIR}/engine/io/tflite/tflite.fbs
  COMMAND ${FLATC} --cpp --scoped-enums -o ${PROJECT_BINARY_DIR}/generated ${PROJECT_SOURCE_DIR}/engine/io/tflite/tflite.fbs)
add_custom_target(moil_tflite_header DEPENDS ${MOIL_TFLITE_HEADER})
add_library(moil_tflite_schema INTERFACE)
target_include_directories(moil_tflite_schema SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/generated)
add_dependencies(moil_tflite_schema moil_tflite_header)
