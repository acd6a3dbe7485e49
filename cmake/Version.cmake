# Writes version.h from the project's version and the date of the build.

if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(corral_epoch $ENV{SOURCE_DATE_EPOCH})
else()
  execute_process(
    COMMAND git log -1 --format=%ct
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    OUTPUT_VARIABLE corral_epoch
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
endif()

if(corral_epoch MATCHES "^[0-9]+$")
  execute_process(
    COMMAND date -u -d @${corral_epoch} +%F
    OUTPUT_VARIABLE CORRAL_BUILD_DATE
    OUTPUT_STRIP_TRAILING_WHITESPACE)
else()
  string(TIMESTAMP CORRAL_BUILD_DATE "%Y-%m-%d" UTC)
endif()

configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${CMAKE_BINARY_DIR}/generated/version.h @ONLY)
