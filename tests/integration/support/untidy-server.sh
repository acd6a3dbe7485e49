#!/bin/sh
# Runs the server that is given as arguments, and behaves as badly as real wrappers do: it ignores the
# signals of a polite shutdown, leaves helpers in sessions of their own, and stays when its input ends.
# All of it ends by itself after two minutes at most.
trap '' TERM INT HUP

setsid sleep 120 </dev/null >/dev/null 2>&1 &
# The middle shell exits at once, so this one has lost its parent. It also keeps stdout open.
(setsid sleep 120 </dev/null 2>/dev/null &)

"$@"
sleep 120
