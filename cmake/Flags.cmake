# Warnings and sanitizers for everything of ours, in one target that all others link.

add_library(corral_flags INTERFACE)
target_compile_options(corral_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Werror)
target_include_directories(corral_flags INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)

if(CORRAL_SANITIZE)
  target_compile_options(corral_flags INTERFACE -fsanitize=${CORRAL_SANITIZE} -fno-sanitize-recover=all
                                                -fno-omit-frame-pointer)
  target_link_options(corral_flags INTERFACE -fsanitize=${CORRAL_SANITIZE})
endif()
