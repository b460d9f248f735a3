# Installs the systemd unit, with the programs' and the sample configuration's paths where these are installed: the prefix
# is known only now, when `cmake --install --prefix` runs this. STOKER_UNIT is the unit as it is for the prefix /usr;
# STOKER_BINDIR and STOKER_DATADIR lie below the prefix, or are absolute.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
cmake_path(APPEND prefix ${STOKER_BINDIR} OUTPUT_VARIABLE bin)
cmake_path(APPEND prefix ${STOKER_DATADIR} OUTPUT_VARIABLE data)
file(READ ${STOKER_UNIT} unit)
string(REPLACE "/usr/bin/" "${bin}/" unit "${unit}")
string(REPLACE "/usr/share/" "${data}/" unit "${unit}")
cmake_path(GET STOKER_UNIT FILENAME name)
file(WRITE ${STOKER_SCRATCH}/${name} "${unit}")
# Not LIBDIR, which is another folder on some systems: systemd looks here.
file(INSTALL ${STOKER_SCRATCH}/${name} DESTINATION ${prefix}/lib/systemd/system)
