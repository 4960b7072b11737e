#!/bin/sh
# tools/screen-svg, which makes the picture in README from a terminal's screen: valid XML with text and colours
. "$(dirname "$0")/tap.sh"

# well_formed FILE: every element is closed, attributes are quoted, and text has no bare < or &
well_formed() {
    perl -0777 -ne '
        my @open;
        while (/\G(?:<\?xml[^>]*\?>|<(\/?)([A-Za-z]+)((?: [A-Za-z:]+="[^"<&]*(?:&[a-z]+;[^"<&]*)*")*)(\/?)>|([^<&]|&(?:amp|lt|gt|quot);))/gc) {
            next unless defined $2;
            if ($1) { die "</$2> closes @open\n" unless @open && pop(@open) eq $2 }
            elsif (!$4) { push @open, $2 }
        }
        die "not XML: ", substr($_, pos // 0, 60), "\n" if (pos // 0) != length;
        die "left open: @open\n" if @open;
    ' "$1"
}

e=$(printf '\033')
{
    echo "plain  ${e}[1;31mbold <red> & \"quoted\"${e}[0m"
    echo "${e}[38;5;208morange${e}[39m ${e}[48;2;1;2;3mon dark${e}[49m ${e}[32;44;7mreversed${e}[m"
    echo "${e}[34m▁█▎${e}[0m│ µs ${e}[2mdim${e}[22;4munder${e}[24m"
    echo "${e}[999mno style${e}[?25l ${e}(Bescapes${e}[36m"
    echo "goes on${e}[m"
} >"$work/screen"
tools/screen-svg 'a <title> & more' <"$work/screen" >"$work/screen.svg"
check "screen-svg: a screen with all styles is well-formed XML" well_formed "$work/screen.svg"
svg=$(cat "$work/screen.svg")
text_has() { has "screen-svg: $1" "$(grep '<text' "$work/screen.svg")" "$2"; }
class_with() { # DECLARATION: print the class that has it
    sed -n "s/^\.\(c[0-9]*\){$1}\$/\1/p" "$work/screen.svg"
}
has "screen-svg: the title is kept" "$svg" '<title>a &lt;title&gt; &amp; more</title>'
text_has "text and its place are kept" '>plain</text>'
text_has "bold and red are kept, and special characters escaped" \
    "class=\"$(class_with 'fill:#e06c75;font-weight:bold')\".*>bold &lt;red&gt; &amp; &quot;quoted&quot;</text>"
text_has "a colour of 256 is kept" "class=\"$(class_with 'fill:#ff8700')\".*>orange</text>"
has "screen-svg: a background of 24 bits is kept" "$svg" '<path fill="#010203"'
text_has "reversed text has the background's colour" "class=\"$(class_with 'fill:#61afef')\".*>reversed</text>"
has "screen-svg: reversed text stands on the text's colour" "$svg" '<path fill="#98c379"'
text_has "dim text is dim" "class=\"$(class_with 'fill:#d4d7dd;opacity:.6')\".*>dim</text>"
text_has "underlined text is underlined" "class=\"$(class_with 'fill:#d4d7dd;text-decoration:underline')\".*>under</text>"
text_has "a style goes on in the next line" "class=\"$(class_with 'fill:#56b6c2')\".*>goes on</text>"
text_has "unknown escapes vanish" '>no style escapes</text>'
has "screen-svg: blocks are outlines in their colour" "$svg" "<path class=\"$(class_with 'fill:#61afef')\" d=\"M"
is "screen-svg: no block is left as text" "$(grep -c '[▁█▎│]' "$work/screen.svg")" 0
is "screen-svg: columns lie 8.4 apart" "$(sed -n 's/.* x="\([0-9.]*\)".*>µs<.*/\1/p' "$work/screen.svg")" 56

check "screen-svg: an empty screen is well-formed XML" sh -c "tools/screen-svg </dev/null >'$work/empty.svg'"
check "screen-svg: an empty screen has no text" sh -c "! grep -q '<text' '$work/empty.svg'"
check "screen-svg: bare escapes and half characters do not stop it" sh -c \
    "printf 'a\033[\377\033\n\200b' | tools/screen-svg 2>/dev/null >'$work/odd.svg'"

tools/screen-svg --light 'light' <"$work/screen" >"$work/light.svg"
check "screen-svg --light: the picture is well-formed XML" well_formed "$work/light.svg"
has "screen-svg --light: the background is light" "$(cat "$work/light.svg")" 'rx="8" fill="#fbfbf9"'
has "screen-svg --light: text without a colour is dark" "$(cat "$work/light.svg")" 'fill:#22262e'

for name in main ranks steps detail evidence help observed; do
    for size in 80x24 160x45; do
        picture=doc/pictures/$name-$size.svg
        check "$picture is well-formed XML" well_formed "$picture"
        has "$picture shows the screen of a live process" "$(cat "$picture")" 'LIVE|Esc'
        is "$picture shows no path of the developer's machine" "$(grep -E '/(work|home|tmp|root)/' "$picture")" ""
        check "$picture has fewer than 150 kB" test "$(wc -c <"$picture")" -lt 150000
    done
done
has "doc/pictures/main-160x45.svg shows the families beside the kernels" "$(cat doc/pictures/main-160x45.svg)" '>FAMILY'
check "doc/screen.svg is well-formed XML" well_formed doc/screen.svg
check "doc/screen.svg has fewer than 60 kB" test "$(wc -c <doc/screen.svg)" -lt 60000
has "doc/screen.svg shows a kernel" "$(cat doc/screen.svg)" '>gemm TN bf16 [^<]*</text>'
is "doc/screen.svg shows no path of the developer's machine" "$(grep -E '/(work|home|tmp|root)/' doc/screen.svg)" ""
finish
