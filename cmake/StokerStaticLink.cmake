# stoker_link_statically(TARGET LIBRARY...) links TARGET with libraries of ours and all that they need, so that it runs
# on any glibc system. gRPC, protobuf, Abseil, OpenSSL, the C++ runtime and others go in as static libraries. libgcc_s
# stays shared, since every such system has it, and the static libgcc_eh of GCC 12 would demand glibc 2.35.
#
# STOKER_STATIC_LINK says whether this is possible. It needs libraries that Debian does not package in this form, which
# cmake/build_pic_libraries.sh makes (./dev runs it). It is off with sanitizers, whose runtimes need shared libraries, and
# when building for another machine.
stoker_made_once(STOKER_STATIC_LIBRARIES cmake/build_pic_libraries.sh)
set(STOKER_STATIC_LINK OFF)
if(EXISTS ${STOKER_STATIC_LIBRARIES}/libprotobuf.a AND NOT STOKER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set(STOKER_STATIC_LINK ON)
  file(GLOB stoker_static_libraries ${STOKER_STATIC_LIBRARIES}/lib*.a)
endif()

# Imported targets that match this are among the static libraries.
set(stoker_static_targets
  "^(gRPC|protobuf|absl|re2|ZLIB|OpenSSL|CURL|spdlog|fmt|hwy|JPEG)::|^yaml-cpp$|^PkgConfig::(xxhash|spng|webp|prometheus|microhttpd)$")

# stoker_links(VARIABLE TARGET) sets VARIABLE to the targets that TARGET, an ordinary library of ours, is linked with.
function(stoker_links variable target)
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  set(found)
  foreach(link ${links})
    string(REGEX REPLACE [[^\$<LINK_ONLY:(.*)>$]] [[\1]] link "${link}")
    if(TARGET "${link}")
      list(APPEND found ${link})
    endif()
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

function(stoker_link_statically target)
  set(ours)
  set(others)
  foreach(library ${ARGN})
    if(TARGET "${library}")
      stoker_closure(closure ${library})
      list(APPEND ours ${closure})
      list(APPEND others ${library})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES ours)
  set(files)
  foreach(library ${ours})
    stoker_links(links ${library})
    list(APPEND others ${links})
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND files $<TARGET_FILE:${library}>)
      add_dependencies(${target} ${library})
    endif()
  endforeach()
  set(rest)
  foreach(library ${others})
    get_target_property(imported ${library} IMPORTED)
    if(imported AND NOT library MATCHES "${stoker_static_targets}")
      list(APPEND rest ${library})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES rest)
  target_link_libraries(${target} PRIVATE
    -Wl,--start-group ${files} ${stoker_static_libraries} -Wl,--end-group ${rest} Threads::Threads ${CMAKE_DL_LIBS} rt)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/static/arc4random.cc)
  target_link_options(${target} PRIVATE -static-libstdc++ -Wl,--gc-sections)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${files} ${stoker_static_libraries})
endfunction()

# stoker_link_with_old_glibc(LIBRARY) makes a shared library that is linked statically run with glibc 2.28 too, which is
# what torch's wheels ask for: RHEL 8, Debian 10, Ubuntu 20.04. It is linked with stand-ins that offer old versions of
# symbols only (cmake/static/make_old_glibc.sh). Programs cannot have that: today's start-up code needs glibc 2.34.
function(stoker_link_with_old_glibc target)
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    return()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/old_glibc)
  set(names c m pthread dl rt ld)
  set(script ${PROJECT_SOURCE_DIR}/cmake/static/make_old_glibc.sh)
  list(TRANSFORM names REPLACE "(.+)" "${folder}/lib\\1.so" OUTPUT_VARIABLE stand_ins)
  add_custom_command(OUTPUT ${stand_ins} COMMAND ${script} ${folder} 2.28 ${CMAKE_CXX_COMPILER} DEPENDS ${script} VERBATIM)
  add_custom_target(${target}_old_glibc DEPENDS ${stand_ins})
  add_dependencies(${target} ${target}_old_glibc)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/static/old_glibc.cc)
  # Of two libraries that have a symbol the first one counts, so these come before those of the compiler. As flags, since
  # CMake would make -L and -l of libraries that are not there yet, and -lc would be the stand-in alone.
  list(JOIN stand_ins "," flags)
  target_link_libraries(${target} PRIVATE "-Wl,${flags}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${stand_ins})
endfunction()

# stoker_bundle_program(PROGRAM) adds the target bundle-PROGRAM, which links the objects of PROGRAM statically into
# bundle/bin/PROGRAM. It is built only when asked for.
function(stoker_bundle_program program)
  set(target bundle-${program})
  get_target_property(libraries ${program} LINK_LIBRARIES)
  list(FILTER libraries EXCLUDE REGEX "^stoker_compile_options$")
  add_executable(${target} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${program}>)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${program} LINKER_LANGUAGE CXX SKIP_BUILD_RPATH ON
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bundle/bin)
  stoker_link_statically(${target} ${libraries})
  set_property(GLOBAL APPEND PROPERTY STOKER_BUNDLE_TARGETS ${target})
endfunction()
