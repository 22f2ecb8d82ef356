# Part of `cmake --install`: manual pages and completion, which each program prints from its own
# command line (daemon/manual); and the changelog, compressed as manual pages are.
file(MAKE_DIRECTORY "${MOIL_MADE}")
find_program(GZIP gzip)
set(zsh_folder share/zsh/site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(zsh_folder share/zsh/vendor-completions)  # the other one is the administrator's
endif()

# made(PROGRAM FORMAT FILE FOLDER): what PROGRAM prints, as PREFIX/FOLDER/FILE.
function(made program format file folder)
  set(path "${MOIL_MADE}/${format}/${file}")
  file(MAKE_DIRECTORY "${MOIL_MADE}/${format}")
  execute_process(COMMAND "${MOIL_PROGRAM_FOLDER}/${program}" --manual ${format} OUTPUT_FILE "${path}"
                  COMMAND_ERROR_IS_FATAL ANY)
  if(format STREQUAL "man" AND GZIP)
    execute_process(COMMAND "${GZIP}" --best --no-name --force "${path}" COMMAND_ERROR_IS_FATAL ANY)
    string(APPEND path .gz)
  endif()
  file(INSTALL "${path}" DESTINATION "${CMAKE_INSTALL_PREFIX}/${folder}")
endfunction()

if(GZIP)
  execute_process(COMMAND "${GZIP}" --best --no-name --stdout "${MOIL_CHANGELOG}"
                  OUTPUT_FILE "${MOIL_MADE}/changelog.gz" COMMAND_ERROR_IS_FATAL ANY)
  file(INSTALL "${MOIL_MADE}/changelog.gz" DESTINATION "${CMAKE_INSTALL_PREFIX}/${MOIL_DOCDIR}")
endif()
foreach(program ${MOIL_PROGRAMS})
  execute_process(COMMAND "${MOIL_PROGRAM_FOLDER}/${program}" --manual json OUTPUT_VARIABLE table
                  COMMAND_ERROR_IS_FATAL ANY)
  string(JSON section GET "${table}" section)
  made(${program} man ${program}.${section} share/man/man${section})
  made(${program} bash ${program} share/bash-completion/completions)
  made(${program} zsh _${program} ${zsh_folder})
  made(${program} fish ${program}.fish share/fish/vendor_completions.d)
endforeach()
