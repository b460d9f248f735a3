#!/usr/bin/env bash
# network_namespaces.sh STOKERD STOKER: three hosts with a stokerd each, in network namespaces of this machine, behind
# links of which one is slow and one goes down and up again: the epoch's digest is that of one undisturbed server.
# Exits with 77 where there can be no namespaces.
set -euo pipefail

stokerd=$1 stoker=$2
skip() {
  echo "SKIPPED: $*"
  exit 77
}
command -v ip >/dev/null || skip "this machine has no ip command (iproute2)"
prefix=stk$$
ip netns add "${prefix}0" 2>/dev/null || skip "this user may not make network namespaces"

ip netns exec "${prefix}0" true || { ip netns del "${prefix}0" && skip "programs cannot be run in a network namespace"; }

work=$(mktemp -d)
servers=()
clean_up() {
  ((${#servers[@]} == 0)) || kill "${servers[@]}" 2>/dev/null || true
  wait || true
  for host in 0 1 2 3; do ip netns del "$prefix$host" 2>/dev/null || true; done
  rm -rf "$work"
}
trap clean_up EXIT

# Host 0 is the client's; host N is reached from it at 10.99.N.2.
ip -n "${prefix}0" link set lo up
for host in 1 2 3; do
  ip netns add "$prefix$host"
  ip link add "${prefix}a$host" netns "${prefix}0" type veth peer name "${prefix}b$host" netns "$prefix$host" ||
    skip "this kernel has no veth links"
  ip -n "${prefix}0" addr add "10.99.$host.1/24" dev "${prefix}a$host"
  ip -n "$prefix$host" addr add "10.99.$host.2/24" dev "${prefix}b$host"
  ip -n "${prefix}0" link set "${prefix}a$host" up
  ip -n "$prefix$host" link set "${prefix}b$host" up
done

cat >"$work/stokerd.yaml" <<'YAML'
{insecure: true, workers: 1, memory_limit: 1GiB, log: {level: error}, datasets: [{name: far, synthetic: {
  samples: 4000, sleep_us: 2000, fields: [{name: image, dtype: uint8, shape: [48, 48, 3]}]}}]}
YAML
for host in 1 2 3; do
  ip netns exec "$prefix$host" "$stokerd" serve --config "$work/stokerd.yaml" --listen "10.99.$host.2:7077" \
    >"$work/out$host" 2>&1 &
  servers+=($!)
done
for host in 1 2 3; do
  until grep -q '^listening on' "$work/out$host"; do
    kill -0 "${servers[host - 1]}" || { cat "$work/out$host" && exit 1; }
    sleep 0.1
  done
done

digest_from() {
  ip netns exec "${prefix}0" "$stoker" digest --span-samples 8 --servers "$1"
}
expected=$(digest_from 10.99.2.2)
# 40 ms away, where the kernel can shape links.
ip netns exec "${prefix}0" tc qdisc add dev "${prefix}a3" root netem delay 40ms rate 50mbit 2>/dev/null ||
  echo "the third link is as fast as the others: this kernel has no netem"
(
  sleep 0.5
  ip -n "$prefix"1 link set "${prefix}b1" down  # What is on its way is lost, and nobody is told.
  sleep 3
  ip -n "$prefix"1 link set "${prefix}b1" up
) &
disturbed=$(digest_from 10.99.1.2,10.99.2.2,10.99.3.2)
wait $!
if [[ $disturbed != "$expected" ]]; then
  echo "the digest is $disturbed instead of $expected"
  exit 1
fi
echo "one digest: $expected"
