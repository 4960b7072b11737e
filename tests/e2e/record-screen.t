#!/bin/sh
# Recording and replaying on the screen: the keys, what the screen says, and the numbers of a moment when it is seen again.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

rows() { term capture-pane -p | grep -E '^[> ] +[0-9<-].*(gemm|triton|kernel)'; }

# --- recording: keys x and S, and what the status line says ---
demo --kernels 12 --gpus 2 --rate 4000
terminal 100 24 "cd $work && $top -p $demo -d 0.3 -s name -w seen.db; echo status \$?; exec cat"
check "-w records from the start, and the screen says so" shows '\[LIVE\]' '^rec seen.db \| sort KERNEL'
frames() { [ "$(sqlite3 "$work/seen.db" 'SELECT count(*) FROM rtl_frame' 2>/dev/null || echo 0)" -ge "$1" ]; }
check "frames arrive" wait_until 60 frames 4
keys Space
check "the screen is held" shows '\[PAUSED'
seen=$(sqlite3 "$work/seen.db" 'SELECT count(*) FROM rtl_frame')
check "the recording is not" wait_until 60 frames $((seen + 3))
keys Space
check "and goes on" shows '\[LIVE\]'
keys S
check "S adds a snapshot" shows 'snapshot of 12 kernels added to .*seen.db'
keys x
check "x stops recording" shows 'recorded [0-9]+ frames into seen.db'
check "and the screen says so" hides '^rec seen.db'
keys q
check "left" shows 'status 0'
is "a series and a snapshot are in the file" "$(sqlite3 "$work/seen.db" 'SELECT group_concat(kind) FROM rtl_recording')" series,snapshot

# --- replay: every frame shows the numbers that were seen ---
"$top" -p "$demo" -b --window 10 -n 8 -d 0.3 -s name -w "$work/moments.db" >/dev/null
"$top" -r "$work/moments.db" -b --window 10 -s name | grep -cE '^rtl-top' >"$work/frames"
is "eight frames" "$(cat "$work/frames")" 8
terminal 100 24 "$top -r $work/moments.db -s name; echo status \$?; exec cat"
check "the recording plays to its end" shows '\[END 8/8\]' 'rtl-top  segment_demo .*pid '"$demo"
last=$(rows)
keys T
check "T goes back a frame and holds" shows '\[PAUSED 7/8\]'
before=$(rows)
check "its numbers are others" test "$before" != "$last"
keys T T
check "and back" shows '\[PAUSED 5/8\]'
keys t t
check "t goes forward" shows '\[PAUSED 7/8\]'
is "the numbers are what they were" "$(rows)" "$before"
keys t
check "to the end" shows '\[END 8/8\]'
is "and so are those of the end" "$(rows)" "$last"
keys t
check "but not beyond" shows '\[END 8/8\]' 'this is the last frame'
keys b -1h Enter
check "b goes to a time" shows '\[PAUSED 1/8\]'
keys b +1h Enter
check "as far as there is something" shows '\[END 8/8\]'
is "with the numbers of that moment" "$(rows)" "$last"
keys b nonsense Enter
check "what is no time is said" shows 'nonsense. is not a time'
keys b -1h Enter
check "at the start" shows '\[PAUSED 1/8\]'
keys - -
check "- plays faster" shows '\[PAUSED 1/8\]'
keys Space
check "Space goes on at that speed" shows '\[REPLAY 4x [0-9]/8\]|\[END 8/8\]'
check "to the end again" shows '\[END 8/8\]'
is "with the same numbers" "$(rows)" "$last"
keys x
check "a replay is not recorded" shows 'this is a recording'
keys d
check "its interval is the recorder's" shows 'a recording keeps its interval'
keys Enter
check "the detail works" shows 'calls [0-9.]+k?/s' '\[END 8/8\]'
keys Escape Tab
check "the queues, too" shows 'QUEUE  GPU       WAY  DEPTH'
keys Tab '?'
check "the help has the keys of a replay" shows 'Keys everywhere'
keys Escape q
check "left with q" shows 'status 0'

# --- while a frame is being read, q is heard: here another program has the recording locked ---
mkfifo "$work/statements"
sqlite3 "$work/moments.db" <"$work/statements" >"$work/answers" &
exec 9>"$work/statements"
terminal 100 24 "$top -r $work/moments.db -s name; echo status \$?; exec cat"
check "a recording that is locked later" shows '\[END 8/8\]'
echo "BEGIN EXCLUSIVE; SELECT 'locked';" >&9
check "is locked" wait_until 60 grep -q locked "$work/answers"
keys b -1h Enter q
check "is left at once, and that is no error" shows 'status 0'
exec 9>&-

# --- a full disk is said, and the viewer goes on ---
terminal 100 24 "cd $work; ulimit -f 900; $top -p $demo -d 0.1 -w full.db; echo status \$?; exec cat"
check "a full disk is said on screen" shows 'recording: cannot write .*full.db|rec FAILS full.db'
check "and the viewer goes on" shows '\[LIVE\]' 'rec FAILS full.db'
keys q
check "the end is missing: 12, and why" shows 'the end of the recording is missing' 'status 12'
is "the file is sound" "$(sqlite3 "$work/full.db" 'PRAGMA integrity_check')" ok
check "with the frames before" test "$("$top" -r "$work/full.db" --json | wc -l)" -ge 1

# --- and so it is when the process has ended, or its screen was left ---
keep=$demo
demo --kernels 12 --gpus 2 --rate 4000
gone=$demo
terminal 100 24 "cd $work; ulimit -f 900; $top -p $gone -d 0.1 -w gone.db; echo status \$?; exec cat"
check "a full disk again" shows 'rec FAILS gone.db'
end_process "$gone" KILL
check "the process ends" shows '\[EXITED\]'
keys q
check "the end is missing all the same" shows 'the end of the recording is missing' 'status 12'

demo --kernels 12 --gpus 2 --rate 4000
terminal 100 24 "cd $work; ulimit -f 900; $top -p $keep,$demo -d 0.1; echo status \$?; exec cat"
check "two" shows '2 processes'
keys p
check "their list" shows '^ +PID  RANK'
keys Enter
check "one of them" shows "pid ($keep|$demo) "
keys x
check "is recorded onto a full disk" shows 'rec FAILS rtl-top-'
keys p
check "it was left" shows '^ +PID  RANK'
keys q
check "what is missing is said at the end" shows 'the end of the recording is missing' 'status 12'
end_process "$demo" KILL
demo=$keep

# --- two of which one has ended, then both ---
demo --kernels 35 --gpus 2 --rate 4000
mkdir "$work/short"
terminal 100 24 "cd $work/short; $top -p $keep,$demo -d 60; echo status \$?; exec cat"
check "two, seldom looked at" shows '2 processes'
keys x
check "x begins" shows 'recording into rtl-top-|rec rtl-top-'
keys q
check "and q ends before the next look" shows 'status 0'
is "there is a frame of each" "$(sqlite3 "$(echo "$work"/short/*.db)" 'SELECT count(*) > 1 FROM rtl_frame')" 1
terminal 100 24 "cd $work; $top -p $keep,$demo -d 0.2; echo status \$?; exec cat"
check "two again" shows '2 processes'
keys S
check "S: of both" shows 'snapshot of 35 kernels of 2 processes added to '
end_process "$demo" KILL
check "one has ended" shows '1 process:'
keys S
check "S: of the other one" shows 'snapshot of 12 kernels of 1 process added to '
end_process "$keep" KILL
check "both have ended" shows '\[EXITED\]'
keys S
check "S says that there is nothing to save" shows 'no snapshot: all processes have ended'
keys x
check "x says so, too" shows 'not recording: all processes have ended'
keys q
check "and that is no error" shows 'status 0'
demo --kernels 12 --gpus 2 --rate 4000

# --- wrong from the start ---
echo text >"$work/text"
terminal 100 24 "$top -p $demo -w $work/text; echo status \$?; exec cat"
check "a file that is no recording is left alone" shows 'not a recording of rtl-top: choose another name' 'status 11'
terminal 100 24 "cd $work && $top -p $demo -d 0.2; echo status \$?; exec cat"
check "without -w" shows '\[LIVE\]'
keys x
check "x records into a file of the process's" shows "rec rtl-top-$demo.db"
keys q
check "left and closed" shows 'status 0'
check "the file is there" test "$("$top" -r "$work/rtl-top-$demo.db" --json | wc -l)" -ge 1
finish
