#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Binds utter to a key in a Sway without a screen, and dictates into an editor there: sway-check.sh
# The lines are those that 'utter setup binds sway' prints, the keys are pressed by wtype, the
# microphone is that of the tests, and the service is 'utter serve'. Installs nothing.
# UTTER_BUILD names the folder of another build.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.."

scripts/install-packages.sh --check sway
built=${UTTER_BUILD:-$(swift build -c release --show-bin-path)}
if [ "$(id -u)" -eq 0 ]; then
    # Sway does not run as root.
    exec setpriv --reuid=nobody --regid=nogroup --clear-groups \
        env UTTER_BUILD="$built" USER=nobody "scripts/${0##*/}"
fi

utter=$built/utter
said="go forward ten meters"
work=$(mktemp -d /tmp/utter-sway-XXXXXX)
typed=$work/typed
processes=()

clean_up() {
    local process
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

# Waits half a minute for a command to succeed.
await() {
    local try
    for ((try = 0; try < 300; try++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    return 1
}

failures=0
# Says whether a command succeeds in time: expect WHAT COMMAND…
expect() {
    if await "${@:2}"; then
        echo "ok      $1"
    else
        echo "FAILED  $1"
        failures=$((failures + 1))
    fi
}

# The surroundings of a session: nothing of the person who runs this.
mkdir -m 700 "$work/run" "$work/home"
unset DISPLAY WAYLAND_DISPLAY UTTER_SOCKET
export HOME=$work/home XDG_RUNTIME_DIR=$work/run
unset XDG_CONFIG_HOME XDG_STATE_HOME
export WLR_BACKENDS=headless WLR_LIBINPUT_NO_DEVICES=1 WLR_RENDERER=pixman

# The microphone: each time that it is opened a voice begins.
cc -shared -fPIC -DPIC -D_GNU_SOURCE -O1 -o "$work/uttermic.so" \
    Tests/VirtualMicrophone/pcm_uttermic.c -lasound
tail -c +45 samples/go-forward.wav >"$work/voice.raw"
printf '%s\n' 'rates 16000' 'channels 1' 'formats S16_LE' 'periods 2 1024' \
    'period_bytes 64 65536' 'buffer_bytes 256 4000000' "content $work/voice.raw" >"$work/card"
head -c 512 /dev/zero >"$work/state"
printf '%s\n' "pcm_type.uttermic { lib \"$work/uttermic.so\" }" \
    "pcm.!default { type uttermic dir \"$work\" }" >"$work/asound.conf"
export ALSA_CONFIG_PATH=$work/asound.conf

"$utter" serve --port 0 --grammar samples/grammar/demo.gram >"$work/serve" 2>&1 &
processes+=($!)
await grep -q 'http://' "$work/serve"
UTTER_URL=$(grep -o 'http://[^ ]*' "$work/serve" | head -n 1)
export UTTER_URL

# The lines that are pasted, and an editor, which takes each key as it comes.
"$utter" setup binds sway >"$work/binds"
cp "$work/binds" "$work/config"
sway -c "$work/config" >"$work/sway" 2>&1 &
processes+=($!)
await compgen -G "$XDG_RUNTIME_DIR/wayland-?"
WAYLAND_DISPLAY=$(basename "$(compgen -G "$XDG_RUNTIME_DIR/wayland-?")")
SWAYSOCK=$(compgen -G "$XDG_RUNTIME_DIR/sway-ipc.*.sock")
export WAYLAND_DISPLAY SWAYSOCK

# Replaces the lines of the keys, and begins a new file in the editor.
begin() {
    cat >"$work/config"
    sway -C -c "$work/config" && swaymsg -q reload
    begin_text
}
begin_text() {
    swaymsg -q '[app_id="foot"] kill' || true
    await not editor_is_there
    : >"$typed"
    swaymsg -q exec "foot sh -c 'stty -icanon -echo; exec cat >$typed'"
    await editor_is_there
}
editor_is_there() { swaymsg -t get_tree | grep -q '"app_id": "foot"'; }
not() { ! "$@"; }
has_typed() { [ "$(cat "$typed")" = "$1" ]; }
is_phase() { "$utter" status | grep -q "^$1"; }
# Presses F9, holds it for so many milliseconds, and does more before it goes up.
hold() { wtype -P F9 -s "$1" "${@:2}" -p F9; }
tap() { wtype -P F9 -s 50 -p F9; }

echo "hold, without a daemon"
begin <"$work/binds"
hold 3000
expect "what is said is typed" has_typed "$said"
expect "nothing goes on" is_phase idle

begin_text
hold 1500 -P Escape -p Escape
expect "Escape throws the recording away" is_phase idle
expect "and nothing is typed" has_typed ""

hold 3300 -P Shift_L -p Shift_L
expect "Sway forgets the release after another key" is_phase recording
hold 100
expect "the next release ends the recording" has_typed "$said"
expect "nothing goes on" is_phase idle

begin_text
hold 2800
wtype -s 100
hold 300
expect "a press in the tail goes on, and the text is typed once" has_typed "$said"
expect "nothing goes on" is_phase idle

begin_text
for _ in 1 2 3 4 5; do tap; done
expect "taps leave no recording" is_phase idle
expect "and type nothing" has_typed ""

echo "press and press again"
sed -e '/^bindsym.* start$/d' -e '/^bindsym.* stop /d' -e 's/^#  *bindsym/bindsym/' "$work/binds" | begin
hold 1500
expect "a key that is held begins once" is_phase recording
sleep 1.5
tap
expect "the second press types what is said" has_typed "$said"
expect "nothing goes on" is_phase idle

echo "to the clipboard"
sed 's/ stop --type/ stop --copy/' "$work/binds" | begin
hold 3000
is_copied() { [ "$(wl-paste --no-newline)" = "$said" ]; }
expect "what is said is on the clipboard" is_copied
expect "and is not typed" has_typed ""

echo "with a daemon"
begin <"$work/binds"
"$utter" daemon --pre-roll 200ms 2>"$work/daemon" &
processes+=($!)
is_daemon() { "$utter" status --json | grep -q '"isDaemon":true'; }
await is_daemon
hold 3000
expect "what is said is typed" has_typed "$said"
expect "the daemon goes on" is_daemon

if [ "$failures" -gt 0 ]; then
    cat "$work/sway" >&2
    exit 1
fi
