# TORCH_LIBRARIES: LibTorch as CMake finds it, or, if TORCH_WHEEL is the folder of a Python environment's torch, that.
if(TORCH_WHEEL)
  # By name, because the wheel's own package also looks for CUDA's compiler and libraries.
  set(TORCH_LIBRARIES wheel)
  add_library(wheel INTERFACE)
  target_compile_features(wheel INTERFACE cxx_std_20)
  target_include_directories(wheel SYSTEM INTERFACE
    ${TORCH_WHEEL}/include ${TORCH_WHEEL}/include/torch/csrc/api/include)
  file(GLOB folders ${TORCH_WHEEL}/lib ${TORCH_WHEEL}/../nvidia/*/lib)
  foreach(folder ${folders})
    target_link_options(wheel INTERFACE -Wl,-rpath,${folder} -Wl,-rpath-link,${folder})
  endforeach()
  target_link_directories(wheel INTERFACE ${TORCH_WHEEL}/lib)
  target_link_libraries(wheel INTERFACE torch_cpu c10)
  if(EXISTS ${TORCH_WHEEL}/lib/libtorch_cuda.so)
    # Nothing names it, but it registers torch's kernels for GPUs.
    target_link_libraries(wheel INTERFACE -Wl,--no-as-needed torch_cuda c10_cuda -Wl,--as-needed)
  endif()
else()
  find_package(Torch REQUIRED)
endif()
