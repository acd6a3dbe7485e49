# The flags for all of our own code. Programs that only start the ones under test link corral_warnings: a
# sanitizer has nothing to find in them and doubles the time to build.

if(CORRAL_SANITIZE)
  set(CORRAL_SANITIZED ON)
endif()

add_library(corral_warnings INTERFACE)
target_compile_options(corral_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor
                                                   $<$<BOOL:${CORRAL_WERROR}>:-Werror>)
target_include_directories(corral_warnings INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)

add_library(corral_flags INTERFACE)
target_link_libraries(corral_flags INTERFACE corral_warnings)
target_compile_definitions(corral_warnings INTERFACE CORRAL_SANITIZED=$<BOOL:${CORRAL_SANITIZED}>)
if(CORRAL_SANITIZE)
  # Not vptr: to see whether memory can be read, it opens a pipe, at any time, in a daemon whose descriptors are
  # counted and limited by tests.
  target_compile_options(corral_flags INTERFACE -fsanitize=${CORRAL_SANITIZE} -fno-sanitize=vptr
                                                -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # Undefined behaviour is looked for in what is tested: in the tests themselves it would take as long to compile as all else.
  target_compile_options(corral_flags INTERFACE $<$<BOOL:$<TARGET_PROPERTY:CORRAL_TEST_PROGRAM>>:-fno-sanitize=undefined>)
  target_link_options(corral_flags INTERFACE -fsanitize=${CORRAL_SANITIZE})
endif()
