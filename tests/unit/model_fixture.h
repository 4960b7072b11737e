/* A model and a synthetic process, new for each test, and the contents of the table. */
#ifndef MODEL_FIXTURE_H
#define MODEL_FIXTURE_H

#include "tui_synth.h"

#define SECONDS(s) ((uint64_t)((s)*1e9))

static struct synth *p;
static struct rtl_model *m;

static int setup(void **state)
{
    (void)state;
    p = synth_create(2, 4);
    m = rtl_model_create();
    return m ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    return 0;
}

/* Check the displayed names and their order, "a b c". */
__attribute__((unused)) static void shown(const char *wanted)
{
    char text[512] = "";
    for (uint32_t i = 0; i < m->shown; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 m->rows[m->order[i]].kernel->name);
    assert_string_equal(text, wanted);
}

#endif
