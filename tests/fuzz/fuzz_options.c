/*
 * libFuzzer target: any command line is accepted, or refused with status 1 and one line without terminal controls.
 *
 * The input is words, each ended by a byte 0. A byte 1 to 31 at the start of a word stands for an option's name, so
 * that the fuzzer finds options; a command's name may come first. The commands diff and export also run, on missing
 * files.
 */
#include "fuzz_database.h"

#include "model/model.h"
#include "options/commands.h"
#include "options/complain.h"
#include "options/arguments.h"

enum { WORDS = 24, WORD = 300 };

static int refused(int argc, char **argv)
{
    struct rtl_options options;
    char *text;
    enum rtl_parsed parsed = rtl_command_line_parse(argc, argv, &options, &text);
    MUST(parsed == RTL_PARSED_RUN || parsed == RTL_PARSED_DONE || parsed == RTL_PARSED_WRONG);
    MUST((parsed == RTL_PARSED_RUN) == !text);
    if (parsed == RTL_PARSED_DONE)
        fputs(text, stdout);
    if (parsed == RTL_PARSED_WRONG)
        rtl_complain("%s", text);
    free(text);
    if (parsed != RTL_PARSED_RUN)
        return parsed == RTL_PARSED_WRONG;
    MUST(options.pid >= 0 && options.delay_ns >= 50000000 && options.delay_ns <= 3600 * RTL_SEC);
    MUST(options.sort < RTL_COLUMN_COUNT && options.names < RTL_NAME_FORM_COUNT &&
         strlen(options.filter) < RTL_FILTER_MAX);
    MUST(options.recording >= 0 && options.mode >= -1);
    return 0;
}

/* True if a word names an existing file, which the target must not use. */
static bool names_a_file(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!access(argv[i], F_OK) || !strcmp(argv[i], "-"))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char words[WORDS][WORD];
    static const char *const more[] = {"--fail-over", "--recordings", "--cumulative", "--perfetto", "--csv=", "-n"};
    char *argv[WORDS + 1];
    int argc = 1;
    struct fuzz_input in = {data, size};
    struct fuzz_image printed;
    uint8_t how = (uint8_t)fuzz_take(&in, 1);
    snprintf(words[0], WORD, "%s", how & 1 ? "diff" : how & 2 ? "export" : "rtl-top");
    argv[0] = words[0];
    if (!(how & 3) && how & 4) {
        snprintf(words[1], WORD, "%s", rtl_commands[(how >> 3) % RTL_COMMAND_NONE].name);
        argv[argc++] = words[1];
    }
    while (in.left && argc < WORDS) {
        const uint8_t *end = memchr(in.at, 0, in.left);
        size_t length = end ? (size_t)(end - in.at) : in.left, used = 0, from = 0;
        char *word = argv[argc] = words[argc];
        argc++;
        if (length && *in.at < 32) {
            const char *name = *in.at < RTL_OPTION_COUNT ? rtl_options[*in.at].name : more[*in.at % 6];
            used = (size_t)snprintf(word, WORD, "%s%s", *in.at < RTL_OPTION_COUNT ? "--" : "", name);
            from = 1;
        }
        for (size_t i = from; i < length && used < WORD - 1; i++)
            word[used++] = (char)in.at[i];
        word[used] = 0;
        in.at += length + (end != NULL);
        in.left -= length + (end != NULL);
    }
    argv[argc] = NULL;
    if ((how & 3) && names_a_file(argc, argv))
        return 0;
    int status = fuzz_command(how & 1   ? rtl_diff_command
                              : how & 2 ? rtl_export_command
                                        : refused,
                              argc, argv, &printed);
    MUST(status == 0 || status == 1 || status == 10);
    MUST(!(how & 3) || status || /* or the words request the help */
         (printed.size > 15 && !memcmp(printed.bytes, "usage: rtl-top ", 15)));
    fuzz_tame(&printed);
    free(printed.bytes);
    return 0;
}
