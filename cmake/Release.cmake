# What only a release build has (decision 0046): precompiled headers, small code where no call passes, no unused functions,
# hardening. The other builds do not have the precompiled headers, because these hide a missing include.

string(COMPARE EQUAL "${CMAKE_BUILD_TYPE}" Release CORRAL_RELEASE)
if(CORRAL_SANITIZE)
  set(CORRAL_RELEASE OFF)
endif()

# The folders that a call does not pass: commands, configuration, what looks at other programs, what keeps records.
set(corral_cold adopt cli config control daemon events guard known knowledge observe pool proc reap registry run
                serve shim survey)
set(corral_hot base bridge http instance json router session transport wire)

if(CORRAL_RELEASE)
  target_compile_options(corral_flags INTERFACE -ffunction-sections -fdata-sections -fstack-protector-strong
                                                -U_FORTIFY_SOURCE)
  # Tests are not optimised, and then it has no effect and warns.
  target_compile_options(corral_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CORRAL_TEST_PROGRAM>>>:-D_FORTIFY_SOURCE=2>)
  target_link_options(corral_flags INTERFACE -Wl,--gc-sections -Wl,-O2 -Wl,-z,relro -Wl,-z,now)
endif()

# The same libraries as a program that needs none, for any Linux of this processor: build it by its name. It has SQLite from
# source. A directory of its own, because corral finds corral-keeper beside itself. Not position-independent: nothing is
# relocated, which saves memory in each process. (-static-pie with -static-libstdc++ silently gives a dynamic program.)
function(corral_static_program)
  set(prefix ${CMAKE_BINARY_DIR}/static)
  if(NOT TARGET corral_sqlite_source)
    add_custom_target(corral-static
      COMMAND ${CMAKE_COMMAND} -E echo "There was no ${CORRAL_SQLITE_SOURCE}/sqlite3.c when this build was configured. Type: make static"
      COMMAND ${CMAKE_COMMAND} -E false)
    return()
  endif()
  add_executable(corral-static EXCLUDE_FROM_ALL cli/frame/main.cc)
  set_target_properties(corral-static PROPERTIES OUTPUT_NAME corral RUNTIME_OUTPUT_DIRECTORY ${prefix}/bin CORRAL_STATIC ON)
  target_link_libraries(corral-static PRIVATE corral_cli)
  # gold merges functions of the same instructions whose addresses nobody compares: 0.2 MB.
  target_link_options(corral-static PRIVATE -static -fuse-ld=gold -Wl,--icf=safe)
  add_custom_command(TARGET corral-static POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:corral-keeper> ${prefix}/libexec/corral/corral-keeper)
  add_dependencies(corral-static corral-keeper)
endfunction()

# Once all libraries are there.
function(corral_release_libraries)
  if(NOT CORRAL_RELEASE)
    return()
  endif()
  set(headers <algorithm> <array> <chrono> <cstdint> <cstring> <deque> <filesystem> <fstream> <functional> <iostream> <map>
              <memory> <optional> <set> <span> <sstream> <string> <string_view> <unordered_map> <variant> <vector>
              <boost/json.hpp>)
  # g++ uses precompiled headers only where they were compiled with the same optimisation.
  foreach(kind hot cold)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/headers_${kind}.cc CONTENT "")
    add_library(corral_headers_${kind} OBJECT ${CMAKE_BINARY_DIR}/generated/headers_${kind}.cc)
    target_link_libraries(corral_headers_${kind} PRIVATE corral_flags)
    target_precompile_headers(corral_headers_${kind} PRIVATE ${headers})
  endforeach()
  target_compile_options(corral_headers_cold PRIVATE -Os)
  foreach(folder ${corral_cold})
    target_compile_options(corral_${folder} PRIVATE -Os)
    target_precompile_headers(corral_${folder} REUSE_FROM corral_headers_cold)
  endforeach()
  foreach(folder ${corral_hot})
    target_precompile_headers(corral_${folder} REUSE_FROM corral_headers_hot)
  endforeach()
  # g++ 12 sees an access in proc/preparation.cc that does not exist, and only in such a build.
  target_compile_options(corral_proc PRIVATE -Wno-array-bounds)
  # These define what their headers become.
  set_source_files_properties(base/log.cc base/boost_json.cc http/request_head.cc PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
