/* The tracks of an export's ops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these first */
#include <cmocka.h>

#include "command/export.h"

static void ops_on_a_track_do_not_overlap(void **state)
{
    (void)state;
    struct rtl_tracks tracks = {0};
    bool new_track, new_gpu;
    struct rtl_export_op op = {.gpu = 0, .queue = 8, .start = INT64_MIN, .end = INT64_MAX};
    for (size_t i = 0; i < 70; i++) {
        size_t at = rtl_tracks_for(&tracks, &op, &new_track, &new_gpu);
        assert_int_equal(at, i < RTL_TRACKS_OVERLAP ? i : RTL_TRACKS_OVERLAP - 1);
        assert_int_equal(new_track, i < RTL_TRACKS_OVERLAP);
        assert_int_equal(new_gpu, i == 0);
        tracks.track[at].used = true;
        tracks.track[at].end = op.end;
    }
    op.gpu = 1; /* the same queue number on another GPU */
    assert_int_equal(rtl_tracks_for(&tracks, &op, &new_track, &new_gpu), RTL_TRACKS_OVERLAP);
    assert_true(new_track && new_gpu && !tracks.track[RTL_TRACKS_OVERLAP].number);
    tracks.track[RTL_TRACKS_OVERLAP].used = true;
    tracks.track[RTL_TRACKS_OVERLAP].end = 5000;
    op.end = 9000;
    op.start = 5000 - RTL_TRACKS_SHAKE; /* a small overlap comes from the clocks */
    assert_int_equal(rtl_tracks_for(&tracks, &op, &new_track, &new_gpu), RTL_TRACKS_OVERLAP);
    op.start--;
    assert_int_equal(rtl_tracks_for(&tracks, &op, &new_track, &new_gpu), RTL_TRACKS_OVERLAP + 1);
    assert_true(new_track && !new_gpu);
    rtl_tracks_free(&tracks);
    assert_true(rtl_span_ns(INT64_MIN, INT64_MAX) == UINT64_MAX && rtl_span_ns(1, 0) == 0 && rtl_span_ns(-1, 1) == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_on_a_track_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
