#!/usr/bin/env bash
# numa.sh [BIN]: a server's workers on a machine that has two NUMA nodes, which qemu plays: Debian's kernel boots in it with
# BIN's programs (build/release/bin) as all there is. Half of the workers must stay on each node, the other threads may run
# anywhere, and `numa: false` leaves workers alone; an epoch's digest is this machine's. Takes two minutes, without KVM.
# Needs qemu-system-x86, busybox-static and cpio, and gets Debian's kernel as a file.
set -euo pipefail

bin=$(realpath "${1:-build/release/bin}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in qemu-system-x86_64 busybox cpio; do
  command -v "$program" >/dev/null || { echo "numa.sh: needs $program: apt-get install qemu-system-x86 busybox-static cpio" >&2; exit 2; }
done

cd "$work"
kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '$1 == "Depends:" && /linux-image/ {print $2; exit}')
apt-get -q download "$kernel" &>/dev/null
dpkg-deb --fsys-tarfile linux-image-*.deb | tar -x --wildcards './boot/vmlinuz-*'

mkdir -p root/{bin,proc,sys,dev,tmp,run}
cp "$(command -v busybox)" root/bin/
cp "$bin"/{stokerd,stoker} root/bin/
ldd "$bin"/{stokerd,stoker} | grep -oE '/[^ ]+' | grep -v ':$' | sort -u | xargs -I{} cp --parents -L {} root/
cat >root/job.sh <<'END'
stoker digest --servers 127.0.0.1:7077 --pipeline /pipeline.yaml --batch-size 16 2>/tmp/progress
END
echo 'ops: [{RandomHorizontalFlip: {}}]' >root/pipeline.yaml
cat >root/config.yaml <<'END'
listen: 127.0.0.1:7077
workers: 4
memory_limit: 1GiB
cache_dir: /tmp
datasets: [{synthetic: {samples: 4096, fields: [{name: image, dtype: uint8, shape: [64, 64, 3]}]}}]
END
cat >root/init <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev; ip link set lo up
export PATH=/bin HOME=/tmp
echo  # The boot loader's last line has no end.
serve() {
  stokerd serve --config "$1" >/tmp/out 2>/tmp/log &
  until grep -qs listening /tmp/out; do sleep 0.2; done
  echo "$2: digest $(sh /job.sh)"
  for task in /proc/$!/task/*; do sed -n "s/^Cpus_allowed_list:\t/$2: cpus /p" $task/status; done | sort | uniq -c
  kill $!; wait $!; echo "$2: exit $?"
}
sed 's/^/nodes: /' /sys/devices/system/node/node*/cpulist
serve /config.yaml bound
{ cat /config.yaml; echo 'numa: false'; } >/tmp/free.yaml
serve /tmp/free.yaml free
poweroff -f
END
chmod +x root/init
(cd root && find . | cpio --quiet -o -H newc) >initrd

timeout 600 qemu-system-x86_64 -nographic -no-reboot -accel tcg -cpu max -smp 4 -m 3G \
  -object memory-backend-ram,id=a,size=1536M -object memory-backend-ram,id=b,size=1536M \
  -numa node,cpus=0-1,memdev=a -numa node,cpus=2-3,memdev=b \
  -kernel boot/vmlinuz-* -initrd initrd -append "console=ttyS0 quiet panic=-1" </dev/null | tr -d '\r' | tee seen >&2

cd root
cp config.yaml here.yaml
sed -i "s|cache_dir: .*|cache_dir: $work|; s|7077|0|" here.yaml
"$bin/stokerd" serve --config here.yaml >"$work/out" 2>/dev/null &
trap 'kill %1; rm -rf "$work"' EXIT
until grep -qs listening "$work/out"; do sleep 0.2; done
expected=$("$bin/stoker" digest --servers "$(sed 's/.* //' "$work/out")" --pipeline pipeline.yaml --batch-size 16)

cd "$work"
check() { grep -qE "$1" seen || { echo "numa.sh: there is no line like '$1'" >&2; exit 1; }; }
check '^nodes: 0-1$'
check '^nodes: 2-3$'
for run in bound free; do
  check "^$run: digest $expected\$"
  check "^$run: exit 0\$"
done
check '^ +2 bound: cpus 0-1$'
check '^ +2 bound: cpus 2-3$'
check '^ +[0-9]+ bound: cpus 0-3$'
check '^ +[0-9]+ free: cpus 0-3$'
! grep -qE 'free: cpus (0-1|2-3)$' seen || { echo "numa.sh: numa: false did not leave workers alone" >&2; exit 1; }
echo "numa.sh: workers stay on their nodes"
