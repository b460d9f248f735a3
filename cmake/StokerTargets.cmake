# Says how every target of ours is compiled. Contraction into fused multiply-adds is off, since parameter draws must
# give the same bits on every CPU.
add_library(stoker_compile_options INTERFACE)
target_compile_features(stoker_compile_options INTERFACE cxx_std_20)
target_compile_options(stoker_compile_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers $<$<BOOL:${STOKER_WERROR}>:-Werror>
  -ffp-contract=off
  # Sources that compile as one are included by their full paths. Compilers' results shall not depend on these.
  $<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
# At -O3 GCC 12 warns that `"text" + std::string` might copy over itself. It cannot (GCC bug 105651, mended in GCC 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(stoker_compile_options INTERFACE $<$<CONFIG:Release>:-Wno-restrict>)
endif()
# Kernels keep vectors in arrays, which those of ARM's SVE cannot be in, since their size is unknown: NEON runs instead.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  target_compile_definitions(stoker_compile_options INTERFACE
    "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
endif()
target_link_libraries(stoker_compile_options INTERFACE Threads::Threads)
# mold links what is not shipped, in a fifth of the time.
if(NOT CMAKE_CROSSCOMPILING)
  find_program(STOKER_MOLD ld.mold)
  mark_as_advanced(STOKER_MOLD)
endif()
if(STOKER_SANITIZE)
  target_compile_options(stoker_compile_options INTERFACE -fsanitize=${STOKER_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(stoker_compile_options INTERFACE -fsanitize=${STOKER_SANITIZE}
    $<$<BOOL:${STOKER_MOLD}>:-fuse-ld=mold>)
  target_compile_definitions(stoker_compile_options INTERFACE STOKER_SANITIZED)
  # Clang would also compare the types of functions that dlsym found, whose structs are declared on either side.
  target_compile_options(stoker_compile_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
endif()
if(STOKER_SANITIZE STREQUAL "thread")
  include_directories(SYSTEM ${PROJECT_SOURCE_DIR}/cmake/tsan)  # The generated code needs it too.
  # Instrumented libraries come before packaged ones, also where libraries need each other.
  stoker_made_once(STOKER_TSAN_LIBRARIES cmake/build_tsan_libraries.sh)
  set(CMAKE_BUILD_RPATH ${STOKER_TSAN_LIBRARIES})
  target_link_options(stoker_compile_options INTERFACE -Wl,--disable-new-dtags)
endif()
if(STOKER_THREAD_SAFETY)
  target_compile_options(stoker_compile_options INTERFACE -Wthread-safety)
endif()
if(STOKER_FUZZ)
  target_compile_options(stoker_compile_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(STOKER_CCACHE ccache)
  if(STOKER_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${STOKER_CCACHE})
  endif()
endif()

# stoker_library(NAME SOURCES ... [DEPENDS ...] [PRIVATE_DEPENDS ...] [OPTIMIZED] [HOT]) adds the library stoker::NAME of one
# folder. OPTIMIZED says that its loops take most of a test's time, or that its arithmetic must be the same on every CPU:
# presets that optimize nothing else, asan and arm64, compile it by the flags STOKER_OPTIMIZED. HOT says so too, and that
# benchmarks watch it: its files compile one by one wherever it is optimized as in release.
function(stoker_library name)
  cmake_parse_arguments(ARG "OPTIMIZED;HOT" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(stoker_${name} STATIC ${ARG_SOURCES})
  add_library(stoker::${name} ALIAS stoker_${name})
  set_target_properties(stoker_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(stoker_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/stoker>)
  target_link_libraries(stoker_${name} PUBLIC ${ARG_DEPENDS}
    PRIVATE ${ARG_PRIVATE_DEPENDS} $<BUILD_INTERFACE:stoker_compile_options>)
  if(ARG_OPTIMIZED OR ARG_HOT)
    target_compile_options(stoker_${name} PRIVATE ${STOKER_OPTIMIZED})
  endif()
  if(ARG_HOT AND NOT STOKER_SANITIZE)
    set_target_properties(stoker_${name} PROPERTIES UNITY_BUILD OFF)
  endif()
endfunction()

# stoker_program(NAME SOURCES ... DEPENDS ...) adds the executable NAME, which is built into bin/.
function(stoker_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} stoker_compile_options)
endfunction()

# stoker_test(NAME SOURCES ... [ALONE ...] DEPENDS ... [CONCURRENT] [PROPERTIES ...]) adds a GoogleTest program. CTest runs
# its tests one by one. CONCURRENT says that several threads work on one thing; the preset tsan builds and runs these
# programs. ALONE names sources that share no compilation with others, since names of theirs are those of others too.
function(stoker_test name)
  cmake_parse_arguments(ARG "CONCURRENT" "" "SOURCES;ALONE;DEPENDS;PROPERTIES" ${ARGN})
  stoker_program(${name} SOURCES ${ARG_SOURCES} ${ARG_ALONE} DEPENDS ${ARG_DEPENDS} GTest::gmock_main)
  if(ARG_ALONE)
    set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  # What is tested is compiled as it is shipped. The tests themselves need not be fast.
  if(STOKER_SANITIZE STREQUAL "thread")
    target_compile_options(${name} PRIVATE -O0)
  elseif(NOT STOKER_OPTIMIZED)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(STOKER_MOLD)
    target_link_options(${name} PRIVATE -fuse-ld=mold)
  endif()
  if(ARG_CONCURRENT)
    list(APPEND ARG_PROPERTIES LABELS concurrent)
    add_dependencies(concurrent ${name})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 ${ARG_PROPERTIES})
endfunction()

# stoker_closure(VARIABLE TARGET) sets VARIABLE to TARGET and all libraries of ours that it links, directly or not.
function(stoker_closure variable target)
  set(pending ${target})
  set(closure)
  while(pending)
    list(POP_FRONT pending next)
    string(REGEX REPLACE [[^\$<LINK_ONLY:(.*)>$]] [[\1]] next "${next}")
    if(NOT TARGET "${next}")
      continue()
    endif()
    get_target_property(aliased ${next} ALIASED_TARGET)
    if(aliased)
      set(next ${aliased})
    endif()
    get_target_property(imported ${next} IMPORTED)
    if(imported OR next IN_LIST closure)
      continue()
    endif()
    list(APPEND closure ${next})
    get_target_property(links ${next} INTERFACE_LINK_LIBRARIES)
    if(links)
      list(APPEND pending ${links})
    endif()
  endwhile()
  set(${variable} ${closure} PARENT_SCOPE)
endfunction()
