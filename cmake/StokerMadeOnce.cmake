# stoker_made_once(VARIABLE SCRIPT): sets VARIABLE to the folder of the user's cache in which SCRIPT, a path from the
# repository's root, keeps what it makes once for all checkouts; to nothing where SCRIPT cannot tell. The folder may not be
# there yet: ./dev runs SCRIPT. A value given with -DVARIABLE=... stands.
function(stoker_made_once variable script)
  if(DEFINED CACHE{${variable}})
    return()
  endif()
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/${script} --where
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()
