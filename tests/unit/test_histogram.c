/* The bucket arithmetic: every bucket's edges, the error bound of 1/128 from 64 ns to 2^40 ns, monotony, the ends. */
#include "segment_fixture.h"

#include "stats/histogram.h"

enum { BUCKETS = 35 * RTL_CHUNK_BUCKETS };

/* The bucket's value is off by at most 1/128. */
static void assert_bounded(uint64_t value)
{
    uint64_t middle = rtl_bucket_middle(rtl_bucket_of(value));
    uint64_t off = middle > value ? middle - value : value - middle;
    if (off * 128 > value)
        fail_msg("%llu counts as %llu", (unsigned long long)value, (unsigned long long)middle);
}

static void buckets_join_without_a_gap(void **state)
{
    (void)state;
    uint64_t next = 0;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        uint64_t low = rtl_bucket_low(i), high = low + rtl_bucket_width(i) - 1;
        assert_int_equal(low, next);
        assert_int_equal(rtl_bucket_of(low), i);
        assert_int_equal(rtl_bucket_of(high), i);
        assert_in_range(rtl_bucket_middle(i), low, high);
        next = high + 1;
    }
    assert_int_equal(next, RTL_VALUE_MAX + 1);
}

/* Within a bucket the error is largest at its edges, so checking the edges checks all values. */
static void the_error_is_bounded_everywhere(void **state)
{
    (void)state;
    for (uint32_t i = 64; i < BUCKETS; i++) {
        assert_bounded(rtl_bucket_low(i));
        assert_bounded(rtl_bucket_low(i) + rtl_bucket_width(i) - 1);
    }
    assert_in_range(RTL_VALUE_MAX, 1000000000000ull, UINT64_MAX); /* 1000 s lie within */
}

static void the_error_is_bounded_from_100_ns_to_1000_s(void **state)
{
    (void)state;
    for (uint64_t v = 100; v < 2000000; v++)
        assert_bounded(v);
    for (double v = 100; v <= 1e12; v *= 1.00001)
        assert_bounded((uint64_t)v);
    assert_bounded(1000000000000ull);
}

static void small_values_are_exact(void **state)
{
    (void)state;
    for (uint64_t v = 0; v < 128; v++)
        assert_int_equal(rtl_bucket_middle(rtl_bucket_of(v)), v);
}

static void values_beyond_the_range_count_as_the_largest(void **state)
{
    (void)state;
    assert_int_equal(rtl_bucket_of(RTL_VALUE_MAX), BUCKETS - 1);
    assert_int_equal(rtl_bucket_of(RTL_VALUE_MAX + 1), BUCKETS - 1);
    assert_int_equal(rtl_bucket_of(UINT64_MAX), BUCKETS - 1);
    assert_true(BUCKETS / RTL_CHUNK_BUCKETS <= RTL_OCTAVES_MAX);
}

static void buckets_keep_the_order_of_values(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 1000000; i++) {
        uint64_t a = fixture_random(&seed) >> (fixture_random(&seed) % 64),
                 b = fixture_random(&seed) >> (fixture_random(&seed) % 64);
        if (a <= b)
            assert_true(rtl_bucket_of(a) <= rtl_bucket_of(b));
        else
            assert_true(rtl_bucket_of(a) >= rtl_bucket_of(b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_join_without_a_gap),
        cmocka_unit_test(the_error_is_bounded_everywhere),
        cmocka_unit_test(the_error_is_bounded_from_100_ns_to_1000_s),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(values_beyond_the_range_count_as_the_largest),
        cmocka_unit_test(buckets_keep_the_order_of_values),
    };
    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
