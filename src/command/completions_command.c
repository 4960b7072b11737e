/* rtl-top completions: prints a shell script that completes commands, options and arguments. The script is made from
 * the tables, so new rows are completed too. */
#include "model/columns.h"
#include "record/db.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "shm/segment_reader.h"
#include "shm/tables.h"
#include "text/names.h"
#include "text/text.h"
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

/* The possible completions of an argument. */
enum completion { OFFER_NOTHING, OFFER_WORDS, OFFER_FILES, OFFER_PIDS, OFFER_PROGRAMS, OFFERS };

/* How each argument of the tables is completed. Sort keys (NULL) come from the table of columns. */
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

static void keys_to_sort_by(char *words, size_t size)
{
    *words = '\0';
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        if (rtl_columns[i].order != RTL_ORDER_NO)
            rtl_text_append(words, size, "%s ", rtl_columns[i].key);
    rtl_text_append(words, size, "help ");
}

static enum completion find_completion(const char *argument, char *words, size_t size)
{
    *words = '\0';
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        if (strcmp(arguments[i].name, argument) != 0)
            continue;
        if (!arguments[i].words)
            keys_to_sort_by(words, size);
        else
            snprintf(words, size, "%s", arguments[i].words);
        return arguments[i].kind;
    }
    return OFFER_NOTHING;
}

/* Prints before[] for the argument's completion, and for words also the words and `after_words`. */
static void print_offer(const char *const before[OFFERS], const char *after_words, const char *argument)
{
    char words[400];
    enum completion offer = find_completion(argument, words, sizeof words);
    fputs(before[offer], stdout);
    if (offer == OFFER_WORDS) {
        words[strlen(words) - 1] = '\0';
        printf("%s%s", words, after_words);
    }
}

/* --- bash --- */

/* Prints the command that fills COMPREPLY. */
static void bash_offer(const char *argument)
{
    static const char *const before[OFFERS] = {
        [OFFER_NOTHING] = ":",
        [OFFER_WORDS] = "COMPREPLY=($(compgen -W '",
        [OFFER_FILES] = "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")",
        [OFFER_PIDS] = "COMPREPLY=($(compgen -W \"$(\"$1\" completions --pids 2>/dev/null)\" -- \"$cur\"))",
        [OFFER_PROGRAMS] = "COMPREPLY=($(compgen -c -- \"$cur\"))",
    };
    print_offer(before, "' -- \"$cur\"))", argument);
}

static void bash_command(enum rtl_command command)
{
    const struct rtl_option_info *o;
    printf("    %s)\n        case $prev in\n", command == RTL_COMMAND_NONE ? "''" : rtl_commands[command].name);
    for (int i = 0; (o = rtl_command_option(command, i)); i++) {
        if (!*o->argument)
            continue;
        printf("        --%s%s%.1s) ", o->name, o->letter ? "|-" : "", (char[]){(char)o->letter, 0});
        bash_offer(o->argument);
        fputs("; return ;;\n", stdout);
    }
    fputs("        esac\n        if [[ $cur == -* ]]; then\n            COMPREPLY=($(compgen -W '", stdout);
    for (int i = 0; (o = rtl_command_option(command, i)); i++)
        printf("--%s %s%.1s%s", o->name, o->letter ? "-" : "", (char[]){(char)o->letter, 0}, o->letter ? " " : "");
    fputs("' -- \"$cur\"))\n        else\n            ", stdout);
    if (command == RTL_COMMAND_NONE) {
        fputs("[[ $COMP_CWORD == 1 ]] && COMPREPLY=($(compgen -W '", stdout);
        for (int i = 0; i < RTL_COMMAND_NONE; i++)
            printf("%s ", rtl_commands[i].name);
        fputs("' -- \"$cur\"))", stdout);
    } else {
        bash_offer(rtl_commands[command].arguments);
    }
    fputs("\n        fi ;;\n", stdout);
}

static void bash(void)
{
    fputs("# bash completion of rtl-top, made by: rtl-top completions bash\n"
          "# shellcheck disable=SC2207 # the words have no blanks\n"
          "_rtl_top() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=''\n"
          "    COMPREPLY=()\n"
          "    # --sort=p99 is three words here\n"
          "    if [[ $cur == = ]]; then cur=''; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    if ((COMP_CWORD > 1)); then\n        case ${COMP_WORDS[1]} in ",
          stdout);
    for (int i = 0; i < RTL_COMMAND_NONE; i++)
        printf("%s%s", i ? "|" : "", rtl_commands[i].name);
    fputs(") command=${COMP_WORDS[1]} ;; esac\n    fi\n    case $command in\n", stdout);
    for (int c = 0; c < RTL_COMMAND_COUNT; c++)
        bash_command((enum rtl_command)c);
    fputs("    esac\n}\ncomplete -F _rtl_top rtl-top\n", stdout);
}

/* --- zsh --- */

/* Escapes text for single quotes and for zsh's lists of options. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_offer(const char *argument)
{
    static const char *const before[OFFERS] = {" ", "(", "_files", "_rtl_top_pids", "_command_names -e"};
    print_offer(before, ")", argument);
}

static void zsh_options(enum rtl_command command, const char *indent)
{
    const struct rtl_option_info *o;
    for (int i = 0; (o = rtl_command_option(command, i)); i++) {
        if (o->letter)
            printf(" \\\n%s'(-%c --%s)'{-%c,--%s%s}'[", indent, o->letter, o->name, o->letter, o->name,
                   *o->argument ? "=" : "");
        else
            printf(" \\\n%s'--%s%s[", indent, o->name, *o->argument ? "=" : "");
        zsh_text(o->meaning);
        putchar(']');
        if (*o->argument) {
            putchar(':');
            zsh_text(o->argument);
            putchar(':');
            zsh_offer(o->argument);
        }
        putchar('\'');
    }
}

static void zsh(void)
{
    fputs("#compdef rtl-top\n# zsh completion of rtl-top, made by: rtl-top completions zsh\n"
          "_rtl_top_pids() {\n"
          "    local -a pids\n"
          "    pids=(${(f)\"$($program completions --pids 2>/dev/null)\"})\n"
          "    compadd -a pids\n}\n"
          "_rtl_top_commands() {\n    local -a commands\n    commands=(\n",
          stdout);
    for (int i = 0; i < RTL_COMMAND_NONE; i++) {
        printf("        '%s:", rtl_commands[i].name);
        zsh_text(rtl_commands[i].meaning);
        fputs("'\n", stdout);
    }
    fputs("    )\n    _describe -t commands command commands\n}\n"
          "_rtl-top() {\n    local program=$words[1]\n    if ((CURRENT > 2)); then\n        case $words[2] in\n",
          stdout);
    for (int i = 0; i < RTL_COMMAND_NONE; i++) {
        printf("        %s)\n            shift words\n            ((CURRENT--))\n            _arguments -s",
               rtl_commands[i].name);
        zsh_options((enum rtl_command)i, "                ");
        fputs(" \\\n                '*:", stdout);
        zsh_text(rtl_commands[i].arguments);
        putchar(':');
        zsh_offer(rtl_commands[i].arguments);
        fputs("'\n            return ;;\n", stdout);
    }
    fputs("        esac\n    fi\n    _arguments -s", stdout);
    zsh_options(RTL_COMMAND_NONE, "        ");
    fputs(" \\\n        '1:command:_rtl_top_commands'\n}\n"
          "if [ \"$funcstack[1]\" = _rtl-top ]; then _rtl-top \"$@\"; else compdef _rtl-top rtl-top; fi\n",
          stdout);
}

/* --- fish --- */

static void fish_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
}

static void fish_offer(const char *argument)
{
    static const char *const before[OFFERS] = {" -x", " -x -a '", " -r -F",
                                               " -x -a '(rtl-top completions --pids 2>/dev/null)'",
                                               " -x -a '(__fish_complete_command)'"};
    print_offer(before, "'", argument);
}

static void fish(void)
{
    const struct rtl_option_info *o;
    fputs("# fish completion of rtl-top, made by: rtl-top completions fish\n"
          "function __rtl_top_command\n"
          "    set -l words (commandline -opc)\n"
          "    set -q words[2]; or return 1\n"
          "    contains -- $words[2]",
          stdout);
    for (int i = 0; i < RTL_COMMAND_NONE; i++)
        printf(" %s", rtl_commands[i].name);
    fputs("; or return 1\n    test (count $argv) -eq 0; or contains -- $words[2] $argv\nend\n"
          "function __rtl_top_first\n    test (count (commandline -opc)) -eq 1\nend\n"
          "complete -c rtl-top -f\n",
          stdout);
    for (int c = 0; c < RTL_COMMAND_COUNT; c++) {
        const struct rtl_command_info *info = &rtl_commands[c];
        char words[400], when[80];
        snprintf(when, sizeof when, c == RTL_COMMAND_NONE ? "not __rtl_top_command" : "__rtl_top_command %s",
                 info->name);
        if (c != RTL_COMMAND_NONE) {
            printf("complete -c rtl-top -n __rtl_top_first -a %s -d '", info->name);
            fish_text(info->meaning);
            fputs("'\n", stdout);
            if (find_completion(info->arguments, words, sizeof words) != OFFER_NOTHING) {
                printf("complete -c rtl-top -n '%s'", when);
                fish_offer(info->arguments);
                putchar('\n');
            }
        }
        for (int i = 0; (o = rtl_command_option((enum rtl_command)c, i)); i++) {
            printf("complete -c rtl-top -n '%s' -l %s", when, o->name);
            if (o->letter)
                printf(" -s %c", o->letter);
            if (*o->argument)
                fish_offer(o->argument);
            fputs(" -d '", stdout);
            fish_text(o->meaning);
            fputs("'\n", stdout);
        }
    }
}

static void print_pids(void)
{
    pid_t *pids = NULL;
    int count = rtl_discover(&pids);
    for (int i = 0; i < count; i++)
        printf("%d\n", (int)pids[i]);
    free(pids);
}

int rtl_completions_command(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    struct rtl_arguments a;
    void (*print)(void) = NULL;
    int status;
    rtl_arguments_begin(&a, RTL_COMMAND_COMPLETIONS, false, argc, argv);
    for (int o; (o = rtl_arguments_next(&a)) >= 0;)
        if (o == RTL_COMPLETIONS_PIDS)
            print = print_pids;
    if (rtl_arguments_done(&a, &status))
        return status;
    for (size_t i = 0; argc - a.first == 1 && !print && i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(shells[i].name, argv[a.first]))
            print = shells[i].print;
    if (!print || (print == print_pids && a.first < argc)) {
        rtl_complain("completions needs one of bash, zsh, fish: rtl-top completions bash");
        return RTL_READER_USAGE;
    }
    print();
    return rtl_stdout_written() ? 0 : RTL_DB_FULL;
}
