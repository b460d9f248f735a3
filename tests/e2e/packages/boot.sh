# shellcheck shell=bash
# Sourced: machines that systemd boots, as containers of systemd-nspawn, to be thrown away.
#
#   why_no_boot                       why there can be none here; nothing where there can
#   boot FOLDER COMMAND ARGUMENT...   boots the root filesystem in FOLDER, whose units are wiped, runs a command in it
#                                     as a unit of its systemd, with a network of its own, and prints what that prints.
#                                     Fails as that does

why_no_boot() {
  if ((EUID != 0)); then
    echo "needs root, to boot a container"
  elif ! command -v systemd-nspawn >/dev/null; then
    echo "needs systemd-nspawn: apt-get install systemd-container"
  elif [[ ! -w /sys/fs/cgroup ]]; then
    echo "needs control groups that can be written"
  fi
}

boot() {
  local root=$1 status=0 group groups=()
  shift
  # Only what the command starts shall run, and none of what this root was set up for.
  rm -rf "$root"/etc/systemd/system/* "$root/usr/sbin/policy-rc.d" "$root/var/lib/man-db/auto-update"
  mkdir -p "$root/etc/systemd/system" "$root/run"
  cat >"$root/etc/systemd/system/test.target" <<'TEXT'
[Unit]
Requires=basic.target test.service
TEXT
  cat >"$root/etc/systemd/system/test.service" <<TEXT
[Unit]
After=basic.target
SuccessAction=exit-force
FailureAction=exit-force
FailureActionExitStatus=1

[Service]
Type=oneshot
Environment=LANG=C.UTF-8 HOME=/root
ExecStart=$*
StandardOutput=file:/test.log
StandardError=inherit
TEXT
  # Control groups of its own, whichever version there is of them.
  for group in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
    [[ ! -e $group/cgroup.procs ]] || groups+=("$group/boot-$$")
  done
  mkdir "${groups[@]}"
  (
    for group in "${groups[@]}"; do echo "$BASHPID" >"$group/cgroup.procs"; done
    exec systemd-nspawn --quiet --directory="$root" --boot --register=no --keep-unit --private-network \
      --link-journal=no --console=pipe -- --unit=test.target --log-level=warning </dev/null >"$root/boot.log" 2>&1
  ) || status=$?
  find "${groups[@]}" -depth -type d -exec rmdir {} +
  [[ ! -e $root/test.log ]] || cat "$root/test.log"
  if ((status != 0)); then
    echo "the machine ended with status $status; it said:" >&2
    tail -n 40 "$root/boot.log" >&2
  fi
  return "$status"
}
