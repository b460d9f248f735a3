# Decides whether the device stage for NVIDIA GPUs is built (STOKER_HAS_CUDA), and defines how: stoker_cuda_object().
set(STOKER_HAS_CUDA OFF)
if(NOT STOKER_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(STOKER_NVCC nvcc PATHS /usr/local/cuda/bin)
    if(STOKER_NVCC)
      set(CMAKE_CUDA_COMPILER ${STOKER_NVCC})
    endif()
  endif()
  if(CMAKE_CUDA_COMPILER)
    # Machine code for the A100, the H100 and the H200, and PTX for later GPUs.
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90 CACHE STRING "GPUs that kernels are compiled for")
    if(STOKER_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${STOKER_CCACHE})
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    find_program(STOKER_LD NAMES ld.bfd ld REQUIRED)
    find_program(STOKER_OBJCOPY objcopy REQUIRED)
    set(STOKER_HAS_CUDA ON)
  elseif(STOKER_CUDA STREQUAL "AUTO")
    message(STATUS "nvcc is not found: the device stage is built without CUDA")
  else()
    message(FATAL_ERROR "STOKER_CUDA=${STOKER_CUDA}, but nvcc is not found")
  endif()
endif()

# stoker_cuda_object(LIBRARY SOURCES ...) compiles SOURCES and puts them into LIBRARY as one object. The object has the
# CUDA runtime inside and hides the runtime's symbols. So a project that links an installed LIBRARY needs no CUDA
# toolkit, and a program with a CUDA runtime of its own does not get ours.
function(stoker_cuda_object library)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  set(objects ${library}_cuda)
  add_library(${objects} OBJECT ${ARG_SOURCES})
  target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
  # The standard is given as a flag, since CMake 3.25 drops CMAKE_CUDA_STANDARD 20 for nvcc 13. nvcc does not take the
  # warnings of stoker_compile_options, so it gets its own.
  set_target_properties(${objects} PROPERTIES CUDA_STANDARD_REQUIRED OFF CUDA_SEPARABLE_COMPILATION OFF)
  target_compile_options(${objects} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -fmad=false --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,$<$<BOOL:${STOKER_WERROR}>:-Werror,>-ffp-contract=off>
    $<$<COMPILE_LANGUAGE:CXX>:$<TARGET_PROPERTY:stoker_compile_options,INTERFACE_COMPILE_OPTIONS>>)
  target_link_libraries(${objects} PRIVATE absl::status absl::statusor absl::strings stoker::proto stoker::pipeline)

  set(object ${CMAKE_CURRENT_BINARY_DIR}/${library}_cuda.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${STOKER_LD} -r -o ${object} $<TARGET_OBJECTS:${objects}>
      ${CUDAToolkit_LIBRARY_DIR}/libcudart_static.a
    COMMAND ${STOKER_OBJCOPY} --wildcard --localize-symbol=cuda* --localize-symbol=__cuda*
      --localize-symbol=libcudart_* ${object}
    DEPENDS ${objects} $<TARGET_OBJECTS:${objects}> ${CUDAToolkit_LIBRARY_DIR}/libcudart_static.a
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(${library} PRIVATE ${object})
  target_link_libraries(${library} PUBLIC ${CMAKE_DL_LIBS} rt)
endfunction()
