#!/bin/sh
# Recording and replaying on the screen: keys, messages, and the numbers of a moment when it is shown again.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

screen_rows() { run_tmux capture-pane -p | grep -E '^[> ] +[0-9<-].*(gemm|triton|kernel)'; }

# --- recording: keys x and S, and the status line ---
start_demo --kernels 12 --gpus 2 --rate 4000
start_terminal 100 24 "cd $work && $top -p $demo -d 0.3 -s name -w seen.db; echo status \$?; exec cat"
check "-w: the screen shows that it records" shows '\[LIVE\]' '^rec seen.db \| sort KERNEL'
has_frames() { [ "$(sqlite3 "$work/seen.db" 'SELECT count(*) FROM rtl_frame' 2>/dev/null || echo 0)" -ge "$1" ]; }
check "-w: frames are written" wait_until 60 has_frames 4
keys Space
check "Space: pauses the screen" shows '\[PAUSED'
seen=$(sqlite3 "$work/seen.db" 'SELECT count(*) FROM rtl_frame')
check "Space: the recording goes on while paused" wait_until 60 has_frames $((seen + 3))
keys Space
check "Space: resumes the screen" shows '\[LIVE\]'
keys S Enter
check "key S: adds a snapshot" shows 'snapshot of 12 kernels added to .*seen.db'
keys x
check "key x: stops recording" shows 'recorded [0-9]+ frames into seen.db'
check "key x: the status line no longer shows a recording" hides '^rec seen.db'
keys q
check "key q: exit status is 0" shows 'status 0'
is "-w and S: the file has a series and a snapshot" "$(sqlite3 "$work/seen.db" 'SELECT group_concat(kind) FROM rtl_recording')" series,snapshot

# --- replay: every frame has the recorded numbers ---
"$top" -p "$demo" -b --window 10 -n 8 -d 0.3 -s name -w "$work/moments.db" >/dev/null
"$top" -r "$work/moments.db" -b --window 10 -s name | grep -cE '^rtl-top' >"$work/frames"
is "replay: prints eight frames" "$(cat "$work/frames")" 8
start_terminal 100 24 "$top -r $work/moments.db -s name; echo status \$?; exec cat"
check "replay on the screen: plays to the end" shows '\[END 8/8\]' 'rtl-top  segment_demo .*pid '"$demo"
last=$(screen_rows)
keys ,
check "replay, key comma: goes back a frame and pauses" shows '\[PAUSED 7/8\]'
before=$(screen_rows)
check "replay, key comma: shows other numbers" test "$before" != "$last"
keys , ,
check "replay, key comma: goes back two frames" shows '\[PAUSED 5/8\]'
keys . .
check "replay, key dot: goes forward two frames" shows '\[PAUSED 7/8\]'
is "replay, key dot: shows that frame's numbers" "$(screen_rows)" "$before"
keys .
check "replay, key dot: goes to the last frame" shows '\[END 8/8\]'
is "replay, key dot: shows the last frame's numbers" "$(screen_rows)" "$last"
keys .
check "replay, key dot: stays at the last frame" shows '\[END 8/8\]' 'this is the last frame'
keys b -1h Enter
check "replay, key b: -1h goes to the first frame" shows '\[PAUSED 1/8\]'
keys b +1h Enter
check "replay, key b: +1h goes to the last frame" shows '\[END 8/8\]'
is "replay, key b: shows the last frame's numbers" "$(screen_rows)" "$last"
keys b nonsense Enter
check "replay, key b: a wrong time is refused" shows 'nonsense. is not a time'
keys b -1h Enter
check "replay, key b: goes to the first frame again" shows '\[PAUSED 1/8\]'
keys - -
check "replay, key -: stays paused" shows '\[PAUSED 1/8\]'
keys Space
check "replay, Space: plays at four times the speed" shows '\[REPLAY 4x [0-9]/8\]|\[END 8/8\]'
check "replay, Space: plays to the end" shows '\[END 8/8\]'
is "replay, Space: shows the last frame's numbers" "$(screen_rows)" "$last"
keys x
check "replay, key x: a replay is not recorded" shows 'this is a recording'
keys d
check "replay, key d: the interval can't be changed" shows 'a recording keeps its interval'
keys Enter
check "replay, Enter: shows a kernel's detail" shows 'calls [0-9.]+k?/s' '\[END 8/8\]'
keys Escape Tab
check "replay, Tab: shows the queues" shows 'QUEUE  GPU  DEPTH'
keys Tab '?'
check "replay, key ?: shows the help" shows 'rtl-top help: keys of this screen'
keys Escape q
check "replay, key q: exit status is 0" shows 'status 0'

# --- key q works while a frame is read; here another program has locked the recording ---
mkfifo "$work/statements"
sqlite3 "$work/moments.db" <"$work/statements" >"$work/answers" &
exec 9>"$work/statements"
start_terminal 100 24 "$top -r $work/moments.db -s name; echo status \$?; exec cat"
check "replay, locked later: plays to the end" shows '\[END 8/8\]'
echo "BEGIN EXCLUSIVE; SELECT 'locked';" >&9
check "replay: another program locks the recording" wait_until 60 grep -q locked "$work/answers"
keys b -1h Enter q
check "replay, locked: q ends it at once with status 0" shows 'status 0'
exec 9>&-

# --- a full disk: rtl-top says so and goes on ---
start_terminal 100 24 "cd $work; ulimit -f 900; $top -p $demo -d 0.1 -w full.db; echo status \$?; exec cat"
check "-w on a full disk: the screen says so" shows 'recording: cannot write .*full.db|rec FAILS full.db'
check "-w on a full disk: the screen goes on" shows '\[LIVE\]' 'rec FAILS full.db'
keys q
check "-w on a full disk: exit status is 12 with the reason" shows 'the end of the recording is missing' 'status 12'
is "-w on a full disk: the file passes SQLite's integrity check" "$(sqlite3 "$work/full.db" 'PRAGMA integrity_check')" ok
check "-w on a full disk: the file has the earlier frames" test "$("$top" -r "$work/full.db" --json | wc -l)" -ge 1

# --- a full disk, if the process has ended or the user has left its screen ---
keep=$demo
start_demo --kernels 12 --gpus 2 --rate 4000
gone=$demo
start_terminal 100 24 "cd $work; ulimit -f 900; $top -p $gone -d 0.1 -w gone.db; echo status \$?; exec cat"
check "-w on a full disk, then the process ends: the screen says so" shows 'rec FAILS gone.db'
end_process "$gone" KILL
check "-w on a full disk, then the process ends: it has EXITED" shows '\[EXITED\]'
keys q
check "-w on a full disk, then the process ends: exit status is 12" shows 'the end of the recording is missing' 'status 12'

start_demo --kernels 12 --gpus 2 --rate 4000
start_terminal 100 24 "cd $work; ulimit -f 900; $top -p $keep,$demo -d 0.1; echo status \$?; exec cat"
check "two processes: the screen shows both" shows '2 processes'
keys p
check "two processes: p lists them" shows '^ +PID  RANK'
keys Enter
check "two processes: Enter shows one" shows "pid ($keep|$demo) "
keys x Enter
check "two processes: x on one records onto a full disk" shows 'rec FAILS rtl-top-'
keys p
check "two processes: p leaves the recorded one" shows '^ +PID  RANK'
keys q
check "two processes: exit status is 12 with the reason" shows 'the end of the recording is missing' 'status 12'
end_process "$demo" KILL
demo=$keep

# --- two processes; first one ends, then both ---
start_demo --kernels 35 --gpus 2 --rate 4000
mkdir "$work/short"
start_terminal 100 24 "cd $work/short; $top -p $keep,$demo -d 60; echo status \$?; exec cat"
check "two processes, -d 60: the screen shows both" shows '2 processes'
keys x Enter
check "two processes, -d 60: x starts recording" shows 'recording into rtl-top-|rec rtl-top-'
keys q
check "two processes, -d 60: q ends before the next frame" shows 'status 0'
is "two processes, -d 60: the recording has a frame of each" "$(sqlite3 "$(echo "$work"/short/*.db)" 'SELECT count(*) > 1 FROM rtl_frame')" 1
start_terminal 100 24 "cd $work; $top -p $keep,$demo -d 0.2; echo status \$?; exec cat"
check "two processes again: the screen shows both" shows '2 processes'
keys S Enter
check "two processes: S saves both" shows 'snapshot of 35 kernels of 2 processes added to '
end_process "$demo" KILL
check "two processes: one has ended" shows '1 process:'
keys S Enter
check "two processes, one ended: S saves the other one" shows 'snapshot of 12 kernels of 1 process added to '
end_process "$keep" KILL
check "two processes: both have ended" shows '\[EXITED\]'
keys S Enter
check "two processes ended: S has nothing to save" shows 'no snapshot: all processes have ended'
keys x Enter
check "two processes ended: x has nothing to record" shows 'not recording: all processes have ended'
keys q
check "two processes ended: exit status is 0" shows 'status 0'
start_demo --kernels 12 --gpus 2 --rate 4000

# --- wrong files ---
echo text >"$work/text"
start_terminal 100 24 "$top -p $demo -w $work/text; echo status \$?; exec cat"
check "-w: a file that is no recording is refused" shows 'not a recording of rtl-top: choose another name' 'status 11'
start_terminal 100 24 "cd $work && $top -p $demo -d 0.2; echo status \$?; exec cat"
check "without -w: the screen appears" shows '\[LIVE\]'
keys x Enter
check "without -w: x records into a file of the process" shows "rec rtl-top-$demo.db"
keys q
check "without -w: exit status is 0" shows 'status 0'
check "without -w: the recording has frames" test "$("$top" -r "$work/rtl-top-$demo.db" --json | wc -l)" -ge 1
finish
