/* rtl-top completions: prints a shell script that completes commands, options and arguments. The script asks this
 * program (--words), which completes from the tables, so new rows are completed too. */
#include "model/columns.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "shm/segment_reader.h"
#include "shm/tables.h"
#include "text/names.h"
#include "text/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD(sym, num, name, ...) name " "
#define MODES                     RTL_MODES(WORD)
#define NAME(sym, name, ...)      name " "
#define FORMS                     RTL_NAME_FORMS(NAME)
#define UNITS                     RTL_UNITS(NAME)
#define THEMES                    RTL_THEMES(NAME)

/* The possible completions of an argument. The shells know files and programs. */
enum completion { OFFER_WORDS, OFFER_FILES, OFFER_PIDS, OFFER_PROGRAMS };

/* How each argument of the tables is completed. Sort keys (words: NULL) come from the table of columns. */
static const struct argument_offer {
    const char *name;
    enum completion kind;
    const char *words;
} arguments[] = {
    {"FILE", OFFER_FILES, ""},          {"FILE.db", OFFER_FILES, ""},
    {"A.db B.db", OFFER_FILES, ""},     {"PID", OFFER_PIDS, ""},
    {"MODE", OFFER_WORDS, MODES},       {"MODE|hip", OFFER_WORDS, MODES " " RTL_MODE_HIP},
    {"FORM", OFFER_WORDS, FORMS},       {"UNIT", OFFER_WORDS, UNITS},
    {"KEY", OFFER_WORDS, NULL},         {"SHELL", OFFER_WORDS, "bash zsh fish "},
    {"THEME", OFFER_WORDS, THEMES},     {"COMMAND", OFFER_PROGRAMS, ""},
    {"-- COMMAND", OFFER_PROGRAMS, ""},
};

/* Prints a word behind `before`, the part of the last word up to "=", and its meaning behind a tab. */
static void print_offer(const char *before, const char *word, int length, const char *meaning)
{
    printf("%s%.*s%s%s\n", before, length, word, *meaning ? "\t" : "", meaning);
}

static void offer_pids(const char *before)
{
    pid_t *pids = NULL;
    int count = rtl_discover(&pids);
    for (int i = 0; i < count; i++)
        printf("%s%d\n", before, (int)pids[i]);
    free(pids);
}

static void offer_words(const char *before, const char *words)
{
    for (size_t length; *words; words += length + 1) {
        length = strcspn(words, " ");
        print_offer(before, words, (int)length, "");
    }
}

static void offer_argument(const char *before, const char *argument)
{
    const size_t count = sizeof arguments / sizeof *arguments;
    size_t i = 0;
    while (i < count && strcmp(arguments[i].name, argument) != 0)
        i++;
    if (i == count)
        return;
    if (arguments[i].kind == OFFER_PIDS)
        offer_pids(before);
    else if (arguments[i].kind != OFFER_WORDS)
        puts(arguments[i].kind == OFFER_FILES ? ":files" : ":programs");
    else if (arguments[i].words)
        offer_words(before, arguments[i].words);
    for (int c = 0; !arguments[i].words && c < RTL_COLUMN_COUNT; c++)
        if (rtl_columns[c].order != RTL_ORDER_NO)
            print_offer(before, rtl_columns[c].key, 40, rtl_columns[c].meaning);
    if (!arguments[i].words)
        print_offer(before, "help", 40, "list the keys");
}

static void offer_options(enum rtl_command command)
{
    const struct rtl_option_info *o;
    for (int i = 0; (o = rtl_command_option(command, i)); i++) {
        printf("--%s\t%s\n", o->name, o->meaning);
        if (o->letter)
            printf("-%c\t%s\n", o->letter, o->meaning);
    }
}

/* Returns the option that the word names, if it needs an argument. */
static const struct rtl_option_info *find_option(enum rtl_command command, const char *word, size_t length)
{
    const struct rtl_option_info *o;
    for (int i = 0; (o = rtl_command_option(command, i)); i++) {
        bool is_letter = length == 2 && o->letter && word[0] == '-' && word[1] == o->letter;
        bool is_name = length > 2 && !strncmp(word, "--", 2) && strlen(o->name) == length - 2 &&
                       !strncmp(word + 2, o->name, length - 2);
        if (*o->argument && (is_letter || is_name))
            return o;
    }
    return NULL;
}

/* Completes the last word. bash makes three words of --sort=p99, zsh and fish one. */
static void complete_last_word(char **words, int count)
{
    enum rtl_command command = count > 1 ? rtl_command_find(words[0]) : RTL_COMMAND_NONE;
    const char *last = count ? words[count - 1] : "", *option = count > 1 ? words[count - 2] : "";
    const char *equals = strncmp(last, "--", 2) ? NULL : strchr(last, '=');
    char before[80] = "";
    if (!strcmp(option, "=") && count > 2)
        option = words[count - 3];
    if (equals && equals - last < (int)sizeof before - 1) {
        snprintf(before, sizeof before, "%.*s", (int)(equals - last) + 1, last);
        option = before;
    }
    const struct rtl_option_info *o = find_option(command, option, strcspn(option, "="));
    if (o)
        offer_argument(before, o->argument);
    else if (*last == '-')
        offer_options(command);
    else if (command != RTL_COMMAND_NONE)
        offer_argument("", rtl_commands[command].arguments);
    for (int i = 0; count == 1 && *last != '-' && i < RTL_COMMAND_NONE; i++)
        print_offer("", rtl_commands[i].name, 40, rtl_commands[i].meaning);
}

/* --- the scripts --- */

static const char bash[] =
    "# bash completion of rtl-top, made by: rtl-top completions bash\n"
    "_rtl_top() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} offers\n"
    "    if [[ $cur == = ]]; then cur=''; fi # --sort=p99 is three words here\n"
    "    mapfile -t offers < <(\"$1\" completions --words -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "    case ${offers[0]-} in\n"
    "    :files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "    :programs) mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
    "    *) mapfile -t COMPREPLY < <(compgen -W \"${offers[*]%%$'\\t'*}\" -- \"$cur\") ;;\n"
    "    esac\n"
    "}\n"
    "complete -F _rtl_top rtl-top\n";

static const char zsh[] =
    "#compdef rtl-top\n"
    "# zsh completion of rtl-top, made by: rtl-top completions zsh\n"
    "_rtl-top() {\n"
    "    local -a offers\n"
    "    offers=(${(f)\"$($words[1] completions --words -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
    "    case $offers[1] in\n"
    "    :files) compset -P '--*='; _files ;;\n"
    "    :programs) _command_names -e ;;\n"
    "    *)\n"
    "        offers=(\"${(@)offers//:/\\\\:}\")\n"
    "        offers=(\"${(@)offers/$'\\t'/:}\")\n"
    "        _describe -t words word offers ;;\n"
    "    esac\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _rtl-top ]; then _rtl-top \"$@\"; else compdef _rtl-top rtl-top; fi\n";

static const char fish[] = "# fish completion of rtl-top, made by: rtl-top completions fish\n"
                           "function __rtl_top_offers\n"
                           "    set -l words (commandline -opc)\n"
                           "    set -l last (commandline -ct)\n"
                           "    set -l offers (rtl-top completions --words -- $words[2..-1] \"$last\" 2>/dev/null)\n"
                           "    switch \"$offers[1]\"\n"
                           "        case ':files'\n"
                           "            __fish_complete_path \"$last\"\n"
                           "        case ':programs'\n"
                           "            __fish_complete_command\n"
                           "        case '*'\n"
                           "            printf '%s\\n' $offers\n"
                           "    end\n"
                           "end\n"
                           "complete -c rtl-top -f -a '(__rtl_top_offers)'\n";

int rtl_completions_command(int argc, char **argv)
{
    static const struct {
        const char *name, *script;
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    struct rtl_arguments a;
    const char *script = NULL;
    bool words = false;
    const struct rtl_own_value own[RTL_COMPLETIONS_OWN_COUNT] = {[RTL_COMPLETIONS_WORDS] = {.flag = &words}};
    int status = rtl_arguments_read(&a, RTL_COMMAND_COMPLETIONS, true, own, NULL, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    for (size_t i = 0; argc - a.first == 1 && !words && i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(shells[i].name, argv[a.first]))
            script = shells[i].script;
    if (!script && !words)
        return RTL_WRONG("completions needs one of bash, zsh, fish: rtl-top completions bash");
    if (words)
        complete_last_word(argv + a.first, argc - a.first);
    else
        fputs(script, stdout);
    return rtl_exit_status(0);
}
