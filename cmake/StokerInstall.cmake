# `cmake --install` installs the programs, the server's systemd unit with a sample configuration, and the CMake package
# `stoker`. Other projects link the client by that package's targets: stoker::client from C++, stoker::capi from C and
# from languages that call C.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Installs a library's headers under include/stoker, with their paths from the repository's root. Those of `proto` are
# generated.
function(stoker_install_headers library)
  get_target_property(source_folder ${library} SOURCE_DIR)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${source_folder})
  if(folder STREQUAL "proto")
    install(DIRECTORY ${PROJECT_BINARY_DIR}/proto/generated/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stoker
      FILES_MATCHING PATTERN "*.h")
  else()
    install(DIRECTORY ${source_folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stoker/${folder}
      FILES_MATCHING PATTERN "*.h")
  endif()
endfunction()

# stoker_install_client(LIBRARY) installs the package `stoker`. Its stoker::client is LIBRARY with all that it links.
function(stoker_install_client library)
  stoker_closure(libraries ${library})
  foreach(each ${libraries})
    stoker_install_headers(${each})
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/common/check.h ${PROJECT_SOURCE_DIR}/common/status_macros.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stoker/common)

  install(TARGETS stoker_client ${libraries} EXPORT stoker-targets ARCHIVE)
  install(TARGETS stoker_capi stoker_torch EXPORT stoker-library-targets LIBRARY)
  install(FILES ${PROJECT_SOURCE_DIR}/client/capi/stoker.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stoker/client/capi)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/client/torch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stoker/client
    FILES_MATCHING PATTERN "*.h")

  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/stoker)
  install(EXPORT stoker-targets NAMESPACE stoker:: DESTINATION ${package})
  install(EXPORT stoker-library-targets NAMESPACE stoker:: DESTINATION ${package})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/stoker-config.cmake.in
    ${PROJECT_BINARY_DIR}/stoker-config.cmake INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/stoker-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/stoker-config.cmake ${PROJECT_BINARY_DIR}/stoker-config-version.cmake
    DESTINATION ${package})
endfunction()

# Programs look for the gRPC with fixes in lib/stoker, beside their folder, before they take the system's.
function(stoker_install_program program)
  if(STOKER_GRPC_LIBRARY)
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/stoker")
  endif()
  install(TARGETS ${program} RUNTIME ${ARGN})
endfunction()

if(STOKER_GRPC_LIBRARY)
  install(FILES ${STOKER_GRPC_LIBRARY} DESTINATION lib/stoker COMPONENT grpc)
endif()
if(STOKER_BUILD_CLIENT)
  stoker_install_client(stoker_loader)
  stoker_install_program(stoker)
endif()
if(NOT STOKER_BUILD_SERVER)
  return()
endif()

# Installs the server as a service. All that only a server needs is the component `server`. /etc is the operator's, so
# nothing there is installed or replaced. What may be copied to there, a configuration and drop-ins, is data.
stoker_install_program(stokerd COMPONENT server)
install(FILES
  ${PROJECT_SOURCE_DIR}/deploy/systemd/stokerd.yaml
  ${PROJECT_SOURCE_DIR}/deploy/systemd/credentials.conf
  ${PROJECT_SOURCE_DIR}/deploy/systemd/python-ops.conf
  DESTINATION ${CMAKE_INSTALL_DATADIR}/stoker COMPONENT server)
install(CODE "
  set(STOKER_UNITS \"${PROJECT_SOURCE_DIR}/deploy/systemd/stokerd.service\"
    \"${PROJECT_SOURCE_DIR}/deploy/systemd/stokerd.socket\")
  set(STOKER_SCRATCH \"${PROJECT_BINARY_DIR}/systemd\")
  set(STOKER_BINDIR \"${CMAKE_INSTALL_BINDIR}\")
  set(STOKER_DATADIR \"${CMAKE_INSTALL_DATADIR}\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/install_systemd_units.cmake\")
  " COMPONENT server)
