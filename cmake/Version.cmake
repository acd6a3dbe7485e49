# Writes version.h from the project's version and the date of the build, and build.h from its options.

if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(corral_epoch $ENV{SOURCE_DATE_EPOCH})
  if(NOT corral_epoch MATCHES "^[0-9]+$")
    message(FATAL_ERROR "SOURCE_DATE_EPOCH is '${corral_epoch}': give a number of seconds since 1970, or unset it")
  endif()
else()
  # Not the commit of a directory above, if this is an archive that was unpacked inside another repository.
  get_filename_component(corral_above ${CMAKE_CURRENT_SOURCE_DIR} DIRECTORY)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env GIT_CEILING_DIRECTORIES=${corral_above} git log -1 --format=%ct
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    OUTPUT_VARIABLE corral_epoch
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
endif()

if(NOT corral_epoch MATCHES "^[0-9]+$")
  # A source without git, for example from an archive, whose files have the time of the commit.
  file(TIMESTAMP ${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt corral_epoch "%s" UTC)
endif()
execute_process(
  COMMAND date -u -d @${corral_epoch} +%F
  OUTPUT_VARIABLE CORRAL_BUILD_DATE
  OUTPUT_STRIP_TRAILING_WHITESPACE)
# The files of a package get this time.
set(CORRAL_EPOCH ${corral_epoch} CACHE INTERNAL "The time of the build, in seconds")

# For `corral version -v`.
set(CORRAL_READ_ONLY_RELOCATIONS false)
if(CORRAL_RELEASE)
  set(CORRAL_READ_ONLY_RELOCATIONS true)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/build.h.in ${CMAKE_BINARY_DIR}/generated/build.h @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${CMAKE_BINARY_DIR}/generated/version.h @ONLY)
