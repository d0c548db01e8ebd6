#!/bin/sh
# Process 1 of the container. Node cannot be: the system gives process 1 no signal that it sends itself, not even a kill,
# so that the watchdog could not end a server that a plugin holds up; nor does Node bury the orphans it is given.
# A core file would have the keys in it.
ulimit -c 0
exec 3<&0
"$@" <&3 3<&- &
child=$!
exec 3<&-
trap 'kill -TERM "$child"' TERM
trap 'kill -INT "$child"' INT
trap 'kill -HUP "$child"' HUP
wait "$child"
code=$?
# A signal ends a wait before the child has ended.
while kill -0 "$child" 2>/dev/null; do
  wait "$child"
  code=$?
done
exit "$code"
