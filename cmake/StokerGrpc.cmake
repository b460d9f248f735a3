# STOKER_GRPC says which gRPC core programs are linked with and, where they were built, run with:
#
#   patched  Debian's with the fixes of cmake/grpc, which cmake/build_grpc.sh makes and ./dev runs; where it was not made, or
#            another gRPC is found, as system
#   system   the one that find_package found
#
# Both have one name and one interface. STOKER_GRPC_LIBRARY is the patched one, which what is installed brings along, as the
# component `grpc`; what is installed without it takes the one that it finds there. The preset tsan has the fixes in its own
# libraries.
set(STOKER_GRPC patched CACHE STRING "The gRPC core: patched or system")
set_property(CACHE STOKER_GRPC PROPERTY STRINGS patched system)
if(NOT STOKER_GRPC STREQUAL "patched" OR STOKER_SANITIZE STREQUAL "thread" OR CMAKE_CROSSCOMPILING)
  return()
endif()
stoker_made_once(STOKER_GRPC_LIBRARIES cmake/build_grpc.sh)
get_target_property(configuration gRPC::grpc IMPORTED_CONFIGURATIONS)
get_target_property(name gRPC::grpc IMPORTED_SONAME_${configuration})
if(NOT EXISTS "${STOKER_GRPC_LIBRARIES}/${name}")
  message(STATUS "gRPC is the system's: cmake/build_grpc.sh makes one with fixes for hostile clients")
  return()
endif()
set_target_properties(gRPC::grpc PROPERTIES IMPORTED_LOCATION_${configuration} ${STOKER_GRPC_LIBRARIES}/${name})
set(STOKER_GRPC_LIBRARY ${STOKER_GRPC_LIBRARIES}/${name})
