#!/bin/sh
# Children of all kinds: by fork before, after and in the middle of the parent's use of the GPU, by vfork, by posix_spawn.
# Each sees what it would see without the library; nobody counts in another's segment.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=intercept_children

# What a child with a runtime of its own did is in its own segment, and nothing else is.
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
check "forked before: the parent's work is accounted for" wait_until 60 settled 0
check "forked before: the parent's counts are its own" counted_as_launched
check "forked before: the child has a segment of its own" children_counted
is "forked before: one child" "$(grep -c '^child' "$work/out")" 1
is "forked before: no child lives on it" "$(look note)" ""
close_scene
is "forked before: all end well" "$status $(without_runtimes_own <"$work/err")" "0 "

play spawn
check "spawned: the parent's work is accounted for" wait_until 60 settled 0
check "spawned: the parent's counts are its own" counted_as_launched
check "spawned: by vfork and by posix_spawn, each has a segment of its own" children_counted
is "spawned: two children" "$(grep -c '^child' "$work/out")" 2
is "spawned: none has its parent's" "$(grep '^child' "$work/out" | while read -r _ child _; do
    for fd in /proc/"$child"/fd/*; do readlink "$fd"; done | grep -c rtl-segment
done | sort | uniq -c | tr -s ' ')" " 2 1"
close_scene
is "spawned: all end well" "$status $(without_runtimes_own <"$work/err")" "0 "

# What can be had in a child that inherited a runtime differs from release to release, down to a crash.
for scene in inherit after; do
    tools=
    play "$scene"
    close_scene
    unset tools
    plain=$status
    grep '^met' "$work/out" >"$work/met"
    play "$scene"
    check "$scene: the parent's work is accounted for" wait_until 60 settled 0
    check "$scene: nothing is counted in the parent's segment" counted_as_launched
    check "$scene: the child meets what it would meet without the library" \
        sh -c "grep '^met' '$work/out' | diff '$work/met' -"
    is "$scene: it is said" "$(look note)" "note forked"
    close_scene
    is "$scene: ends as without the library" "$status" "$plain"
    check "$scene: nothing of ours is said" sh -c "! grep librtl '$work/err'"
done

play storm
check "children while others dispatch: all accounted for" wait_until 60 settled 0
check "children while others dispatch: counts are the program's" counted_as_launched
close_scene
is "children while others dispatch: all end well" "$status $(without_runtimes_own <"$work/err")" "0 "
finish
