#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows a fleet at work: a queue, a store, a recogniser and four workers on this machine, 200
# recordings, and a worker that is killed every second. Each recording gets its result exactly once.
# UTTER_BUILD names the folder of another build; fleet-demo.sh [TAKES [WORKERS]]
set -euo pipefail
cd "$(dirname "$0")/.."

takes=${1:-200}
workers=${2:-4}
built=${UTTER_BUILD:-$(swift build -c release --show-bin-path)}
tools=$PWD/.build/peers/bin

say() { printf 'fleet-demo: %s\n' "$*"; }

for need in nats-server "$tools/weed" "$tools/rclone"; do
    command -v "$need" >/dev/null || {
        echo "utter: error: ${need##*/} is missing" >&2
        echo "utter: hint: run: make peers" >&2
        exit 1
    }
done

place=$(mktemp -d)
children=()
running=()
finish() {
    kill -9 "${children[@]}" "${running[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$place"
}
trap finish EXIT
mkdir -p "$place"/{home/.config/utter/profiles,store,queue,tmp,audio}

# Free ports, as the system chooses them.
ports() {
    python3 -c '
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for one in held: one.bind(("127.0.0.1", 0))
print(*[one.getsockname()[1] for one in held])' "$1"
}
read -r -a port <<<"$(ports 10)"

cat >"$place/keys.json" <<END
{"identities":[{"name":"demo","actions":["Admin","Read","Write","List"],
"credentials":[{"accessKey":"demo","secretKey":"demosecret"}]}]}
END
cat >"$place/home/.config/utter/profiles/demo-store.toml" <<END
extends = "s3"
url = "http://127.0.0.1:${port[0]}/{bucket}/{key}"
END
export HOME=$place/home TMPDIR=$place/tmp ALSA_CONFIG_PATH=/dev/null
export AWS_ACCESS_KEY_ID=demo AWS_SECRET_ACCESS_KEY=demosecret
export UTTER_URL=http://127.0.0.1:${port[1]}/recognize

say "a store, a queue and a recogniser start"
"$tools/weed" server -ip=127.0.0.1 -dir="$place/store" -volume.max=30 -filer -s3 \
    -s3.port="${port[0]}" -s3.config="$place/keys.json" -s3.port.iceberg=0 -s3.port.lance=0 \
    -master.port="${port[3]}" -master.port.grpc="${port[4]}" -volume.port="${port[5]}" \
    -volume.port.grpc="${port[6]}" -filer.port="${port[7]}" -filer.port.grpc="${port[8]}" \
    -s3.port.grpc="${port[9]}" >"$place/weed.log" 2>&1 &
children+=($!)
nats-server -js -a 127.0.0.1 -p "${port[2]}" -sd "$place/queue" >"$place/nats.log" 2>&1 &
children+=($!)
"$built/utter-endpoint" serve --port "${port[1]}" --grammar samples/grammar/demo.gram \
    >"$place/serve.log" 2>&1 &
children+=($!)

bucket=":s3,provider=Other,access_key_id=demo,secret_access_key=demosecret,endpoint='http://127.0.0.1:${port[0]}':fleet"
rclone() { "$tools/rclone" --config /dev/null --retries 1 --low-level-retries 1 "$@"; }
for _ in $(seq 100); do
    rclone mkdir "$bucket" 2>/dev/null && break
    sleep 0.3
done

at=(--store s3://fleet/demo --store-service demo-store --queue "nats://127.0.0.1:${port[2]}")
for ((i = 0; i < takes; i++)); do
    cp samples/go-forward.wav "$place/audio/$i.wav"
    touch -d "@$((1700000000 + i))" "$place/audio/$i.wav"
done
say "$takes recordings are submitted"
(cd "$place/audio" && "$built/utter-work" submit "${at[@]}" --lease 5s ./*.wav)

start_worker() {
    "$built/utter-work" "${at[@]}" --lease 5s --look 2s >/dev/null 2>>"$place/worker-$1.log" &
    running[$1]=$!
}
say "$workers workers begin, and one is killed every second"
for ((i = 0; i < workers; i++)); do start_worker "$i"; done
began=$SECONDS
kills=0
done_count=0
while [ $((SECONDS - began)) -lt 600 ]; do
    sleep 1
    victim=$((RANDOM % workers))
    { kill -9 "${running[$victim]}" && wait "${running[$victim]}"; } 2>/dev/null || true
    kills=$((kills + 1))
    start_worker "$victim"
    done_count=$(rclone lsf "$bucket/demo/results" --include '*.json' 2>/dev/null | wc -l)
    [ "$done_count" -ge "$takes" ] && break
done
say "all have a result after $((SECONDS - began)) s and $kills kills"

# The ledger: manifests, marks, texts and calls.
for ((i = 0; i < workers; i++)); do kill "${running[$i]}" 2>/dev/null || true; done
wait "${running[@]}" 2>/dev/null || true
"$built/utter-work" status "${at[@]}"
manifests=$(rclone lsf -R --files-only "$bucket/demo/takes" --include '*.json' | wc -l)
marks=$(rclone lsf "$bucket/demo/results" --include '*.json' | wc -l)
attempts=$(rclone lsf -R --files-only "$bucket/demo/attempts" --include '*/*.json' | wc -l)
rclone copy "$bucket/demo/results" "$place/results" --include '*.json'
right=$(grep -l '"text" : "go forward ten meters"' "$place"/results/*.json | wc -l)
duplicates=$(cat "$place"/worker-*.log | grep -c ': duplicate' || true)
say "$manifests manifests, $marks marks, $right right texts; $attempts calls at most, $duplicates of" \
    "them duplicates that were counted and dropped"
[ "$manifests" = "$takes" ] && [ "$marks" = "$takes" ] && [ "$right" = "$takes" ] \
    && [ "$attempts" -le $((takes + kills)) ] || {
    say "that is wrong"
    tail -n 5 "$place"/worker-*.log
    exit 1
}
say "each recording has its result exactly once"
