/* The table of commands and the output of --help. See commands.h. */
#include "options/commands.h"
#include "record/db.h"
#include "shm/segment_reader.h"

#include <stdio.h>
#include <string.h>

/* C has no empty arrays, so each table ends with one unused row. */
#define OWN(sym, letter_, name_, argument_, meaning_) \
    {.letter = letter_, .name = name_, .argument = argument_, .meaning = meaning_},
#define TABLES(sym, ...)                                                                      \
    static const struct rtl_option_info own_##sym[] = {RTL_##sym##_OPTIONS(OWN){.name = ""}}; \
    static const enum rtl_option shared_##sym[] = {RTL_##sym##_SHARED RTL_OPTION_HELP};
RTL_COMMANDS(TABLES, TABLES)
#undef TABLES

#define ALL(sym, ...) RTL_OPTION_##sym,
static const enum rtl_option all[] = {RTL_OPTIONS(ALL)};
#undef ALL

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))
#define ROW(sym, name_, sets_, arguments_, meaning_)          \
    [RTL_COMMAND_##sym] = {.name = name_,                     \
                           .arguments = arguments_,           \
                           .meaning = meaning_,               \
                           .sets = sets_,                     \
                           .own = own_##sym,                  \
                           .own_count = COUNT(own_##sym) - 1, \
                           .shared = shared_##sym,            \
                           .shared_count = COUNT(shared_##sym)},
#define JOB(sym, name, option, arguments, meaning)       ROW(sym, name, RTL_OPTION_##option, arguments, meaning)
#define COMMAND(sym, name, function, arguments, meaning) ROW(sym, name, RTL_OPTION_COUNT, arguments, meaning)
const struct rtl_command_info rtl_commands[RTL_COMMAND_COUNT] = {
    RTL_COMMANDS(JOB, COMMAND)[RTL_COMMAND_NONE] = {.name = "",
                                                    .arguments = "",
                                                    .meaning = "",
                                                    .sets = RTL_OPTION_COUNT,
                                                    .shared = all,
                                                    .shared_count = COUNT(all)}};
#undef JOB
#undef COMMAND
#undef ROW

enum rtl_command rtl_command_find(const char *name)
{
    int command = 0;
    while (command < RTL_COMMAND_NONE && strcmp(rtl_commands[command].name, name) != 0)
        command++;
    return (enum rtl_command)command;
}

const struct rtl_option_info *rtl_command_option(enum rtl_command command, int number)
{
    const struct rtl_command_info *c = &rtl_commands[command];
    if (number < c->own_count)
        return &c->own[number];
    number -= c->own_count;
    return number < c->shared_count ? &rtl_options[c->shared[number]] : NULL;
}

static void print_options(FILE *out, enum rtl_command command)
{
    const struct rtl_option_info *o;
    for (int i = 0; (o = rtl_command_option(command, i)); i++) {
        char names[48];
        if (o->letter)
            snprintf(names, sizeof names, "-%c, --%s%s%s", o->letter, o->name, *o->argument ? " " : "", o->argument);
        else
            snprintf(names, sizeof names, "    --%s%s%s", o->name, *o->argument ? " " : "", o->argument);
        fprintf(out, "  %-22s %s\n", names, o->meaning);
    }
}

/* True if -p selects the process that the job or command reads. */
static bool takes_process(const struct rtl_command_info *c)
{
    for (int i = 0; i < c->shared_count; i++)
        if (c->shared[i] == RTL_OPTION_PID && c->sets != RTL_OPTION_REPLAY)
            return true;
    return false;
}

static void print_everything(FILE *out)
{
    fputs("usage: rtl-top [-p] [PID|NAME] [options]\n"
          "       rtl-top COMMAND [options] ...\n"
          "Shows which GPU kernels a process runs, how often and how long, while it runs. A process that\n"
          "was started by rtl-top run, or with the variables that rtl-top env prints, is traced exactly;\n"
          "others are observed from outside.\n\n",
          out);
    print_options(out, RTL_COMMAND_NONE);
    fputs("\ncommands, each with a --help of its own:\n", out);
    for (int i = 0; i < RTL_COMMAND_NONE; i++)
        fprintf(out, "  %-22s %s\n", rtl_commands[i].name, rtl_commands[i].meaning);
    fputs("\nexit status:\n", out);
#define STATUS(sym, status, meaning) fprintf(out, "  %-2d %s\n", status, meaning);
    RTL_READER_ERRORS(STATUS)
    RTL_DB_ERRORS(STATUS)
    RTL_PROBE_ERRORS(STATUS)
#undef STATUS
    fputs("\nkeys: press ? on the screen; more: man rtl-top\n", out);
}

static void print_card(FILE *out)
{
    fputs("usage: rtl-top [PID|NAME] [options]      watch a process's kernels; ? for keys\n"
          "       rtl-top COMMAND [options] ...\n\ncommands by example:\n",
          out);
#define EXAMPLE(example, gist) fprintf(out, "  %-31s %s\n", example, gist);
    RTL_COMMAND_EXAMPLES(EXAMPLE)
#undef EXAMPLE
    fputs("All options and exit statuses: rtl-top --help all; everything else: man rtl-top\n", out);
}

char *rtl_command_help(enum rtl_command command, bool whole)
{
    const struct rtl_command_info *c = &rtl_commands[command];
    size_t size;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (command == RTL_COMMAND_NONE && whole) {
        print_everything(out);
    } else if (command == RTL_COMMAND_NONE) {
        print_card(out);
    } else {
        fprintf(out, "usage: rtl-top %s%s [options] %s\n%s\n\n", c->name, takes_process(c) ? " -p PID" : "",
                c->arguments, c->meaning);
        print_options(out, command);
    }
    fclose(out);
    return text;
}
