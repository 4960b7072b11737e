#!/bin/sh
# Children of all kinds: by fork before, after and during the parent's use of the GPU, by vfork, by posix_spawn. Each
# sees what it would see without the library, and counts nothing in its parent's segment.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=intercept_children

# A child with its own runtime counts its dispatches in its own segment, and nothing else is there.
children_counted() {
    grep '^child ' "$work/out" >"$work/children"
    while read -r _ child kernel n; do
        wait_until 60 sh -c "'$dump' $child | awk '
            \$1 == \"counted\" { counted = \$2 } \$1 == \"timed\" || \$1 == \"untimed_total\" { known += \$2 }
            END { exit !(counted == $n && known == $n) }'" || return 1
        echo "process $child: $("$dump" "$child" kernel)"
        test "$("$dump" "$child" kernel | awk '{ print $2, $3 }')" = "$kernel $n" || return 1
    done <"$work/children"
}

play before
check "forked before: the parent's dispatches are settled" wait_until 60 settled 0
check "forked before: the parent's counts equal its own tally" counted_as_launched
check "forked before: the child has its own segment" children_counted
is "forked before: there is one child" "$(grep -c '^child' "$work/out")" 1
is "forked before: the parent's segment has no note" "$(dump_segment note)" ""
close_scene
is "forked before: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "

play spawn
check "spawned: the parent's dispatches are settled" wait_until 60 settled 0
check "spawned: the parent's counts equal its own tally" counted_as_launched
check "spawned by vfork and by posix_spawn: each child has its own segment" children_counted
is "spawned: there are two children" "$(grep -c '^child' "$work/out")" 2
is "spawned: no child has its parent's segment open" "$(grep '^child' "$work/out" | while read -r _ child _; do
    for fd in /proc/"$child"/fd/*; do readlink "$fd"; done | grep -c rtl-segment
done | sort | uniq -c | tr -s ' ')" " 2 1"
close_scene
is "spawned: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "

# Releases differ in the use of an inherited runtime in a child; it may crash.
for scene in inherit after; do
    tools=
    play "$scene"
    close_scene
    unset tools
    plain=$status
    grep '^met' "$work/out" >"$work/met"
    play "$scene"
    check "$scene: the parent's dispatches are settled" wait_until 60 settled 0
    check "$scene: the child counts nothing in the parent's segment" counted_as_launched
    check "$scene: the child sees what it would see without the library" \
        sh -c "grep '^met' '$work/out' | diff '$work/met' -"
    is "$scene: the segment has the note" "$(dump_segment note)" "note forked"
    close_scene
    is "$scene: exit status is that without the library" "$status" "$plain"
    check "$scene: librtl prints nothing" sh -c "! grep librtl '$work/err'"
done

play storm
check "children while others dispatch: every dispatch is settled" wait_until 60 settled 0
check "children while others dispatch: counts equal the program's" counted_as_launched
close_scene
is "children while others dispatch: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "
finish
