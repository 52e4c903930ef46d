# The target onefile, at onefile/diagnose in the build folder: the program for containers that hold nothing. Its only
# shared libraries are libc, libm and the loader, and its rules are inside. Build it where glibc is old enough for the
# containers it is to run in (Debian 12); tools/package checks the outcome.
set(onefile_libraries)
foreach(name archive lzma zstd bz2 z pcre2-8 yaml sqlite3 jansson utf8proc xxhash)
  find_library(DIAGNOSE_STATIC_${name} NAMES lib${name}.a)
  if(NOT DIAGNOSE_STATIC_${name})
    message(WARNING "no lib${name}.a: onefile/diagnose is not built")
    return()
  endif()
  list(APPEND onefile_libraries ${DIAGNOSE_STATIC_${name}})
endforeach()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/onefile.def CONTENT "\"${PROJECT_BINARY_DIR}/packs.bin\"\n" @ONLY)
set_source_files_properties(src/cli/onefile.c PROPERTIES OBJECT_DEPENDS ${PROJECT_BINARY_DIR}/packs.bin)

get_property(layers GLOBAL PROPERTY DG_LAYERS)
set(archives)
foreach(layer IN LISTS layers)
  list(APPEND archives $<TARGET_FILE:${layer}>) # the file, not the target, which stands for shared libraries too
endforeach()
add_executable(onefile src/cli/onefile.c)
add_dependencies(onefile packs ${layers})
target_include_directories(onefile PRIVATE ${PROJECT_BINARY_DIR}/generated $<TARGET_PROPERTY:PkgConfig::DEPS,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(onefile PRIVATE dg_flags -Wl,--start-group ${archives} -Wl,--end-group ${onefile_libraries} m)
target_link_options(onefile PRIVATE -Wl,--gc-sections -static-libgcc)
set_target_properties(onefile PROPERTIES OUTPUT_NAME diagnose RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/onefile)
