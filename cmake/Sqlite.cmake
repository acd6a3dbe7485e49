# Where SQLite comes from: always from Debian, never from this tree (decision 0046). Gives the target corral_sqlite.
#
#   shared   libsqlite3.so of libsqlite3-dev: the program needs the package libsqlite3-0
#   archive  libsqlite3.a of libsqlite3-dev: part of the program
#   source   Debian's source package, compiled for size without what corral does not use: part of the program
#
# The static program always has the third.

set(CORRAL_SQLITE shared CACHE STRING "SQLite: shared, archive or source")
set_property(CACHE CORRAL_SQLITE PROPERTY STRINGS shared archive source)
set(CORRAL_SQLITE_SOURCE ${CMAKE_SOURCE_DIR}/build/sqlite CACHE PATH "Where packaging/sqlite-source has put sqlite3.c")
if(NOT CORRAL_SQLITE MATCHES "^(shared|archive|source)$")
  message(FATAL_ERROR "CORRAL_SQLITE is '${CORRAL_SQLITE}': give shared, archive or source")
endif()

if(EXISTS ${CORRAL_SQLITE_SOURCE}/sqlite3.c)
  enable_language(C)
  add_library(corral_sqlite_source STATIC EXCLUDE_FROM_ALL ${CORRAL_SQLITE_SOURCE}/sqlite3.c)
  target_include_directories(corral_sqlite_source SYSTEM INTERFACE ${CORRAL_SQLITE_SOURCE})
  set_target_properties(corral_sqlite_source PROPERTIES C_STANDARD 11 C_EXTENSIONS ON UNITY_BUILD OFF)
  target_compile_options(corral_sqlite_source PRIVATE -Oz -w -ffunction-sections -fdata-sections
                                                      -fno-asynchronous-unwind-tables -fstack-protector-strong
                                                      -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  # As Debian has it where behaviour depends on it: threads, deleted text that is overwritten, no memory kept aside.
  # What is left out has no part in the grammar of SQL. Not AUTOINIT: without it, something must call
  # sqlite3_initialize() before the first use.
  target_compile_definitions(corral_sqlite_source PRIVATE
    SQLITE_THREADSAFE=2 SQLITE_SECURE_DELETE SQLITE_OMIT_LOOKASIDE SQLITE_MAX_SCHEMA_RETRY=25 SQLITE_DQS=0
    SQLITE_DEFAULT_MEMSTATUS=0 HAVE_ISNAN=1 HAVE_USLEEP=1 HAVE_FDATASYNC=1
    SQLITE_OMIT_AUTHORIZATION SQLITE_OMIT_COMPILEOPTION_DIAGS SQLITE_OMIT_COMPLETE SQLITE_OMIT_DECLTYPE SQLITE_OMIT_DEPRECATED
    SQLITE_OMIT_GET_TABLE SQLITE_OMIT_INCRBLOB SQLITE_OMIT_JSON SQLITE_OMIT_LOAD_EXTENSION SQLITE_OMIT_PROGRESS_CALLBACK
    SQLITE_OMIT_SHARED_CACHE SQLITE_OMIT_TCL_VARIABLE SQLITE_OMIT_TRACE SQLITE_OMIT_DESERIALIZE SQLITE_UNTESTABLE
    SQLITE_OMIT_DATETIME_FUNCS)
elseif(CORRAL_SQLITE STREQUAL source)
  message(FATAL_ERROR "There is no ${CORRAL_SQLITE_SOURCE}/sqlite3.c. Type: packaging/sqlite-source '${CORRAL_SQLITE_SOURCE}'")
endif()

add_library(corral_sqlite INTERFACE)
if(CORRAL_SQLITE STREQUAL source)
  target_link_libraries(corral_sqlite INTERFACE corral_sqlite_source)
else()
  find_path(SQLITE_INCLUDE sqlite3.h REQUIRED)
  target_include_directories(corral_sqlite SYSTEM INTERFACE ${SQLITE_INCLUDE})
  if(CORRAL_SQLITE STREQUAL shared)
    find_library(SQLITE_SHARED libsqlite3.so REQUIRED)
    set(corral_sqlite_of_debian ${SQLITE_SHARED})
  else()
    find_library(SQLITE_ARCHIVE libsqlite3.a REQUIRED)
    set(corral_sqlite_of_debian ${SQLITE_ARCHIVE} m ${CMAKE_DL_LIBS})
  endif()
  # What a program with the property CORRAL_STATIC links instead; the headers are those of the same release of Debian.
  foreach(library ${corral_sqlite_of_debian})
    target_link_libraries(corral_sqlite INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CORRAL_STATIC>>>:${library}>)
  endforeach()
  if(TARGET corral_sqlite_source)
    target_link_libraries(corral_sqlite INTERFACE $<$<BOOL:$<TARGET_PROPERTY:CORRAL_STATIC>>:$<LINK_ONLY:corral_sqlite_source>>)
  endif()
endif()
