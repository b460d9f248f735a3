# Installs the systemd units with the real paths of the programs and the sample configuration. The prefix is known only
# now, when `cmake --install --prefix` runs this. STOKER_UNITS are the units with the paths for the prefix /usr.
# STOKER_BINDIR and STOKER_DATADIR are relative to the prefix, or absolute.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
cmake_path(APPEND prefix ${STOKER_BINDIR} OUTPUT_VARIABLE bin)
cmake_path(APPEND prefix ${STOKER_DATADIR} OUTPUT_VARIABLE data)
foreach(path IN LISTS STOKER_UNITS)
  file(READ ${path} unit)
  string(REPLACE "/usr/bin/" "${bin}/" unit "${unit}")
  string(REPLACE "/usr/share/" "${data}/" unit "${unit}")
  cmake_path(GET path FILENAME name)
  file(WRITE ${STOKER_SCRATCH}/${name} "${unit}")
  # systemd looks in this folder. It must not be LIBDIR, which is another folder on some systems.
  file(INSTALL ${STOKER_SCRATCH}/${name} DESTINATION ${prefix}/lib/systemd/system)
endforeach()
