# Installs the systemd unit with the real paths of the programs and the sample configuration. The prefix is known only
# now, when `cmake --install --prefix` runs this. STOKER_UNIT is the unit with the paths for the prefix /usr.
# STOKER_BINDIR and STOKER_DATADIR are relative to the prefix, or absolute.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
cmake_path(APPEND prefix ${STOKER_BINDIR} OUTPUT_VARIABLE bin)
cmake_path(APPEND prefix ${STOKER_DATADIR} OUTPUT_VARIABLE data)
file(READ ${STOKER_UNIT} unit)
string(REPLACE "/usr/bin/" "${bin}/" unit "${unit}")
string(REPLACE "/usr/share/" "${data}/" unit "${unit}")
cmake_path(GET STOKER_UNIT FILENAME name)
file(WRITE ${STOKER_SCRATCH}/${name} "${unit}")
# systemd looks in this folder. It must not be LIBDIR, which is another folder on some systems.
file(INSTALL ${STOKER_SCRATCH}/${name} DESTINATION ${prefix}/lib/systemd/system)
