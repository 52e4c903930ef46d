# Language, warnings and hardening, for everything that links dg_flags.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
check_pie_supported(LANGUAGES C)

add_library(dg_flags INTERFACE)
target_include_directories(dg_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(dg_flags INTERFACE _GNU_SOURCE)
target_compile_options(
  dg_flags
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wvla
            -Wstrict-prototypes
            -Wmissing-prototypes
            -Wwrite-strings
            -Wformat=2
            -Wundef
            -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= # assertions speak of src/…
            $<$<BOOL:${DIAGNOSE_WERROR}>:-Werror>)

function(dg_compile_flag_if_supported flag)
  string(MAKE_C_IDENTIFIER "have${flag}" have)
  check_c_compiler_flag(${flag} ${have})
  if(${have})
    target_compile_options(dg_flags INTERFACE ${flag})
  endif()
endfunction()

function(dg_link_flag_if_supported flag)
  string(MAKE_C_IDENTIFIER "have${flag}" have)
  check_linker_flag(C ${flag} ${have})
  if(${have})
    target_link_options(dg_flags INTERFACE ${flag})
  endif()
endfunction()

dg_link_flag_if_supported(-Wl,--as-needed)
if(DIAGNOSE_SANITIZE OR DIAGNOSE_THREAD_SANITIZE)
  set(sanitize -fsanitize=$<IF:$<BOOL:${DIAGNOSE_THREAD_SANITIZE}>,thread,address$<COMMA>undefined>
               -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(dg_flags INTERFACE ${sanitize})
  target_link_options(dg_flags INTERFACE ${sanitize})
elseif(CMAKE_BUILD_TYPE STREQUAL Release)
  # Ubuntu's gcc defines _FORTIFY_SOURCE itself: undefine first.
  target_compile_options(dg_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  dg_compile_flag_if_supported(-fstack-protector-strong)
  dg_compile_flag_if_supported(-fcf-protection=full)
  dg_link_flag_if_supported(-Wl,-z,relro)
  dg_link_flag_if_supported(-Wl,-z,now)
endif()
if(DIAGNOSE_FUZZ)
  target_compile_options(dg_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(DIAGNOSE_COVERAGE)
  target_compile_options(dg_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(dg_flags INTERFACE --coverage -Wl,--wrap=_exit)
  # What a child counted, which leaves by _exit(), is written too.
  add_library(dg_coverage STATIC ${PROJECT_SOURCE_DIR}/tools/coverage-exit.c)
  target_link_libraries(dg_flags INTERFACE dg_coverage)
endif()
