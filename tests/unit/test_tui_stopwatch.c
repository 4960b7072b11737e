/*
 * Ten questions of operators, the keys that answer them, and the answers: a server of eight ranks, one of them slow, on
 * a terminal of 80x24. doc/use.md has the same questions and keys.
 */
#include "ranks_fixture.h"

#include "tui/keys.h"

static const struct {
    const char *question, *keys;
    const char *answers[4];
} questions[] = {
    {"Which kernel takes most of the time?", "", {"\n>  44", " nccl AllReduce bf16 Sum"}},
    {"Which kernel got slower just now, and how much?", "", {"\n ! ", " 3.0x TP5 ", " paged_attn"}},
    {"Which rank is slow, and how much?", "", {" TP5 2.0x   gemm TN bf16"}},
    {"Which rank delays the others in a collective?", "", {" TP5 last   nccl AllReduce"}},
    {"Why is a GPU idle?", "", {"G5 ", "host late"}},
    {"How does each rank do in that kernel?", "Down e", {" gemm TN bf16", "! 4194005    TP5 ", " 2.00x\n"}},
    {"Since when is it slow, and how are its durations distributed?",
     "Enter",
     {" P99 over time", "since start", " CALLS ", " p50"}},
    {"Which process is on which GPU, how busy, in which mode?",
     "p",
     {" PID  RANK        GPU %BUSY", "  4194005   TP5    08:00.0  65.0  ", " default python3 -m vllm"}},
    {"How long do packets wait, in which process's queue?", "Tab", {" WAIT P99", " 4194005 ", " 14.0µs"}},
    {"How much time do all gemms take together?", "g", {" + gemm  1 kernel", "   29.2 "}},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

/* Press keys given as "Down e". Return their number. */
static int press_all(const char *keys)
{
    char words[64], *rest = words;
    int count = 0;
    snprintf(words, sizeof words, "%s", keys);
    for (char *word; (word = strtok_r(rest, " ", &rest)); count++) {
        uint32_t key = 0;
        for (int i = 1; i < RTL_ACTION_COUNT; i++)
            for (int k = 0; k < 3; k++)
                if (rtl_keys[i].keys[k] && !strcmp(rtl_key_name(rtl_keys[i].keys[k]).text, word))
                    key = rtl_keys[i].keys[k];
        if (!key)
            fail_msg("'%s' is no key of the screen", word);
        assert_true(rtl_ui_key(&ui, key) & RTL_UI_DRAW);
    }
    return count;
}

static void each_question_is_answered_by_its_keys(void **state)
{
    (void)state;
    for (int q = 0; q < QUESTIONS; q++) {
        attention_slower_from = 46;
        start(1, 8, 50);
        rtl_ui_scroll_into_view(&ui, 24, 80);
        assert_true(press_all(questions[q].keys) <= 2);
        char *screen = draw(24, 80);
        for (int i = 0; i < 4 && questions[q].answers[i]; i++)
            if (!strstr(screen, questions[q].answers[i]))
                fail_msg("%s ('%s'): '%s' is not in\n%s", questions[q].question, questions[q].keys,
                         questions[q].answers[i], screen);
        free(screen);
        end();
    }
}

static void the_manual_has_the_questions(void **state)
{
    (void)state;
    static char text[1 << 17];
    FILE *in = fopen("doc/use.md", "r");
    if (!in)
        fail_msg("doc/use.md can't be read: unit tests run in the top folder of the sources");
    text[fread(text, 1, sizeof text - 1, in)] = 0;
    fclose(in);
    for (int q = 0; q < QUESTIONS; q++) {
        char line[160], keys[80] = "none";
        if (*questions[q].keys) { /* "`Down` `e`" */
            size_t used = 0;
            for (const char *at = questions[q].keys; *at; at += *at == ' ') {
                size_t length = strcspn(at, " ");
                used += (size_t)snprintf(keys + used, sizeof keys - used, "%s`%.*s`", used ? " " : "", (int)length, at);
                at += length;
            }
        }
        snprintf(line, sizeof line, "| %s | %s |", questions[q].question, keys);
        if (!strstr(text, line))
            fail_msg("doc/use.md lacks '%s'", line);
    }
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_question_is_answered_by_its_keys),
        cmocka_unit_test(the_manual_has_the_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
