/*
 * The terminal through curses; no other file includes curses. See screen.h.
 *
 * Signals are blocked except inside ppoll, so their handlers only set flags and can't race. Signals that end the viewer
 * are also unblocked while it writes, because a stopped terminal can block the write for ever. A crash handler can't
 * wait: it writes strings prepared at the start and restores the terminal's modes with async-signal-safe functions.
 */
#define _XOPEN_SOURCE_EXTENDED 1
#include <curses.h>
#include <term.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

/* our headers come after curses, which uses some of their names */
#include "base/clock.h"
#include "base/write_all.h"
#include "tui/keys.h"
#include "tui/screen.h"
#include "tui/themes.h"

enum {
    ESCAPE_DELAY_MS = 50, /* wait after Esc for the end of a sequence */
    SEQUENCE_MAX = 64,    /* bytes skipped of an unknown escape sequence */
    EARLY_MAX = 32,       /* keys kept during a long operation */
    LOOK_NS = 50000000,   /* between two polls for them */
    PASTE_PAUSE_NS = 1000000000,
    EMPTY_READS_MAX = 3, /* empty reads until the terminal counts as closed */
    PASTE_BEGINS = KEY_MAX + 1,
    PASTE_ENDS,
};

static struct {
    bool open;
    SCREEN *screen;
    FILE *input;
    int in, out;
    struct termios modes; /* modes before rtl_screen_open */
    char restore[256];    /* written by the crash handler */
    size_t restore_bytes;
    attr_t attributes[RTL_ROLE_COUNT];
    short pairs[RTL_ROLE_COUNT];
    struct rtl_frame shown; /* content of the terminal */
    bool shown_valid;
    int cursor_shown;
    int empty_reads;
    int kept_kind; /* read after an Esc, belongs to the next key; ERR = nothing */
    wint_t kept;
    uint32_t early[EARLY_MAX]; /* keys typed during a long operation */
    int early_count;
    bool pasting;      /* the terminal sends pasted text */
    uint64_t paste_ns; /* time of the last pasted character */
    sigset_t waiting;  /* signal mask inside ppoll */
    sigset_t deadly;   /* signals that end the viewer */
} tty = {.in = -1, .out = -1, .cursor_shown = -1, .kept_kind = ERR};

/* set by handlers, read by rtl_screen_wait */
static volatile sig_atomic_t deadly_signal, resized, stop_asked, continued;
/* set around writes to the terminal, read by on_deadly */
static volatile sig_atomic_t drawing;

static void on_deadly(int sig)
{
    deadly_signal = sig;
    if (drawing) {
        /* Ctrl-S may block the write: without flow control it continues */
        struct termios modes;
        if (!tcgetattr(tty.in, &modes)) {
            modes.c_iflag &= ~(tcflag_t)IXON;
            tcsetattr(tty.in, TCSANOW, &modes);
        }
    }
}

static void on_flagged(int sig)
{
    if (sig == SIGWINCH)
        resized = 1;
    else if (sig == SIGTSTP)
        stop_asked = 1;
    else
        continued = 1;
}

static void on_crash(int sig)
{
    static const char text[] = "rtl-top: crashed; the process that it watched is not affected\n";
    rtl_write_all(tty.out, tty.restore, tty.restore_bytes);
    tcsetattr(tty.in, TCSANOW, &tty.modes);
    rtl_write_all(STDERR_FILENO, text, sizeof text - 1);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void install_handler(int sig, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigfillset(&action.sa_mask);
    sigaction(sig, &action, NULL);
}

static const int deadly[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
static const int flagged[] = {SIGWINCH, SIGTSTP, SIGCONT};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

static void install_handlers(void)
{
    static char stack[64 << 10]; /* the stack may have overflowed */
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    sigemptyset(&tty.deadly);
    sigprocmask(SIG_BLOCK, NULL, &tty.waiting);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        install_handler(deadly[i], on_deadly, 0);
        sigaddset(&tty.deadly, deadly[i]);
        sigdelset(&tty.waiting, deadly[i]);
    }
    sigset_t blocked = tty.deadly;
    for (size_t i = 0; i < sizeof flagged / sizeof *flagged; i++) {
        install_handler(flagged[i], on_flagged, 0);
        sigaddset(&blocked, flagged[i]);
        sigdelset(&tty.waiting, flagged[i]);
    }
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        install_handler(crashes[i], on_crash, SA_ONSTACK | SA_NODEFER);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
}

static const char *capability(const char *name)
{
    char writable[16];
    snprintf(writable, sizeof writable, "%s", name);
    const char *value = tigetstr(writable);
    return value && value != (const char *)-1 ? value : NULL;
}

/* Collect the strings that restore the terminal, without terminfo's padding. */
static void prepare_restore(void)
{
    static const char *const names[] = {"sgr0", "op", "cnorm", "rmkx", "rmcup"};
    tty.restore_bytes = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = capability(names[i]);
        while (value && *value && tty.restore_bytes < sizeof tty.restore) {
            if (value[0] == '$' && value[1] == '<' && strchr(value, '>')) {
                value = strchr(value, '>') + 1;
                continue;
            }
            tty.restore[tty.restore_bytes++] = *value++;
        }
    }
}

static void prepare_roles(enum rtl_theme theme)
{
    static const attr_t plain[] = {
        [RTL_MARK_NONE] = A_NORMAL, [RTL_MARK_BOLD] = A_BOLD, [RTL_MARK_REVERSE] = A_REVERSE, [RTL_MARK_DIM] = A_DIM};
    bool colors =
        theme != RTL_THEME_MONO && has_colors() && start_color() == OK && use_default_colors() == OK && COLORS >= 8;
    for (int i = 0; i < RTL_ROLE_COUNT; i++) {
        struct rtl_style style = rtl_theme_style(theme, (enum rtl_role)i);
        tty.pairs[i] = 0;
        tty.attributes[i] = plain[style.mark];
        if (!colors)
            continue;
        bool many = COLORS >= 256;
        short fg = many ? style.fg256 : style.fg, bg = many ? style.bg256 : style.bg;
        tty.attributes[i] = style.mark == RTL_MARK_BOLD           ? A_BOLD
                            : style.mark == RTL_MARK_DIM && !many ? A_DIM
                                                                  : A_NORMAL;
        if (style.mark == RTL_MARK_REVERSE && bg < 0) /* an alarm without a background colour stays reversed */
            tty.attributes[i] = A_REVERSE;
        if ((fg >= 0 || bg >= 0) && init_pair((short)(i + 1), fg, bg) == OK)
            tty.pairs[i] = (short)(i + 1);
    }
}

/* Written at the end, also by the crash handler. */
static void add_restore(const char *sequence)
{
    size_t length = strlen(sequence);
    if (tty.restore_bytes + length > sizeof tty.restore)
        return;
    memcpy(tty.restore + tty.restore_bytes, sequence, length);
    tty.restore_bytes += length;
}

static void send_sequence(const char *sequence)
{
    fflush(stdout);
    rtl_write_all(tty.out, sequence, strlen(sequence));
}

/* The terminal marks pasted text (bracketed paste): it must not act as keys. */
static const char paste_on[] = "\033[?2004h", paste_off[] = "\033[?2004l";
static void mark_pastes(void)
{
    define_key("\033[200~", PASTE_BEGINS);
    define_key("\033[201~", PASTE_ENDS);
    send_sequence(paste_on);
    add_restore(paste_off);
}

/* Only presses of button 1 and the wheel: other buttons and drags stay with the terminal as far as possible. */
static void take_mouse(void)
{
    if (!mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL))
        return;
    mouseinterval(0);                      /* no wait for a double click */
    add_restore("\033[?1000l\033[?1006l"); /* for the crash handler; curses does it otherwise */
}

static bool open_input(char *why, size_t why_bytes)
{
    tty.in = STDIN_FILENO;
    tty.input = stdin;
    if (isatty(STDIN_FILENO))
        return true;
    /* input is a pipe: read keys from the terminal */
    tty.input = fopen("/dev/tty", "re");
    if (!tty.input) {
        snprintf(why, why_bytes, "no terminal to read keys from: use -b, --csv or --json");
        return false;
    }
    tty.in = fileno(tty.input);
    return true;
}

bool rtl_screen_open(enum rtl_theme theme, bool mouse, char *why, size_t why_bytes)
{
    const char *type = getenv("TERM");
    tty.out = STDOUT_FILENO;
    if (!isatty(STDOUT_FILENO)) {
        snprintf(why, why_bytes, "standard output is not a terminal: use -b, --csv or --json");
        return false;
    }
    if (!open_input(why, why_bytes))
        return false;
    if (tcgetattr(tty.in, &tty.modes)) {
        snprintf(why, why_bytes, "cannot read the terminal's modes: %s", strerror(errno));
        return false;
    }
    use_tioctl(TRUE); /* the size of the window, not LINES and COLUMNS */
    tty.screen = newterm(NULL, stdout, tty.input);
    if (!tty.screen) {
        snprintf(why, why_bytes, "unknown kind of terminal '%s': set TERM, or use -b", type ? type : "");
        return false;
    }
    if (!capability("cup")) {
        endwin();
        delscreen(tty.screen);
        snprintf(why, why_bytes, "the terminal '%s' can't move its cursor: set TERM, or use -b", type ? type : "");
        return false;
    }
    prepare_restore();
    install_handlers(); /* after newterm, which installs handlers */
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_DELAY_MS);
    leaveok(stdscr, FALSE);
    prepare_roles(theme);
    if (mouse)
        take_mouse();
    mark_pastes();
    tty.open = true;
    return true;
}

static void restore_terminal(void)
{
    send_sequence(paste_off);
    curs_set(1);
    endwin();
    tcsetattr(tty.in, TCSANOW, &tty.modes);
}

void rtl_screen_close(void)
{
    if (!tty.open)
        return;
    tty.open = false;
    restore_terminal();
    delscreen(tty.screen);
    rtl_frame_free(&tty.shown);
    if (tty.input != stdin)
        fclose(tty.input);
}

const char *rtl_screen_library(void)
{
    return curses_version();
}

void rtl_screen_size(int *rows, int *cols)
{
    getmaxyx(stdscr, *rows, *cols);
}

/* Keep a copy of the frame; without memory each frame is sent completely. */
static void remember(const struct rtl_frame *frame)
{
    tty.shown_valid = rtl_frame_reset(&tty.shown, frame->rows, frame->cols, frame->ascii);
    if (tty.shown_valid)
        memcpy(tty.shown.cells, frame->cells, (size_t)frame->rows * (size_t)frame->cols * sizeof *frame->cells);
}

void rtl_screen_show(const struct rtl_frame *frame, bool repaint)
{
    int rows, cols;
    rtl_screen_size(&rows, &cols);
    bool all = repaint || !tty.shown_valid || tty.shown.rows != frame->rows || tty.shown.cols != frame->cols;
    if (all)
        erase();
    if (repaint)
        clearok(curscr, TRUE);
    for (int row = 0; row < frame->rows && row < rows; row++)
        for (int col = 0; col < frame->cols && col < cols; col++) {
            size_t at = (size_t)row * (size_t)frame->cols + (size_t)col;
            const struct rtl_cell *cell = &frame->cells[at];
            if (!all && tty.shown.cells[at].code == cell->code && tty.shown.cells[at].role == cell->role)
                continue;
            wchar_t text[2] = {(wchar_t)cell->code, 0};
            cchar_t put;
            int role = cell->role < RTL_ROLE_COUNT ? cell->role : 0;
            if (setcchar(&put, text, tty.attributes[role], tty.pairs[role], NULL) == OK)
                mvadd_wch(row, col, &put);
        }
    remember(frame);
    if (tty.cursor_shown != frame->cursor_shown) {
        curs_set(frame->cursor_shown ? 1 : 0);
        tty.cursor_shown = frame->cursor_shown;
    }
    if (frame->cursor_row < rows && frame->cursor_col < cols)
        wmove(stdscr, frame->cursor_row, frame->cursor_col);
    drawing = 1;
    sigprocmask(SIG_UNBLOCK, &tty.deadly, NULL);
    refresh();
    sigprocmask(SIG_BLOCK, &tty.deadly, NULL);
    drawing = 0;
}

static void take_size(void)
{
    struct winsize size;
    if (!ioctl(tty.out, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
        resizeterm(size.ws_row, size.ws_col);
    tty.shown_valid = false;
}

/* Ctrl-Z: restore the terminal, stop as the shell expects, and set up the terminal again. */
static void stop_here(void)
{
    sigset_t stop;
    restore_terminal();
    signal(SIGTSTP, SIG_DFL);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL); /* the signal stops the process here */
    sigprocmask(SIG_BLOCK, &stop, NULL);
    install_handler(SIGTSTP, on_flagged, 0);
    continued = 1;
}

static void take_back(void)
{
    reset_prog_mode();
    send_sequence(paste_on);
    tty.cursor_shown = -1;
    take_size();
    clearok(curscr, TRUE);
    refresh();
}

/* Read on after an Esc. Skip an escape sequence that curses does not know, so that none of its bytes acts as a key;
 * keep any other key for the next read. */
static uint32_t after_escape(void)
{
    wint_t next;
    int kind = get_wch(&next);
    if (kind == ERR)
        return RTL_KEY_ESC;
    if (kind == OK && next == 'O') {
        get_wch(&next);
        return RTL_KEY_IGNORED;
    }
    if (kind == OK && next == '[') {
        for (int i = 0; i < SEQUENCE_MAX && get_wch(&next) != ERR; i++)
            if (next >= 0x40 && next <= 0x7e)
                break;
        return RTL_KEY_IGNORED;
    }
    tty.kept_kind = kind;
    tty.kept = next;
    return RTL_KEY_ESC;
}

static uint32_t mouse_key(void)
{
    MEVENT event;
    if (getmouse(&event) != OK || event.x < 0 || event.y < 0 || event.x > 0xfff || event.y > 0xfff)
        return RTL_KEY_IGNORED;
    if (event.bstate & BUTTON4_PRESSED)
        return RTL_MOUSE_EVENT(RTL_MOUSE_UP, event.y, event.x);
    if (event.bstate & BUTTON5_PRESSED)
        return RTL_MOUSE_EVENT(RTL_MOUSE_DOWN, event.y, event.x);
    if (event.bstate & BUTTON1_PRESSED)
        return RTL_MOUSE_EVENT(RTL_MOUSE_CLICK, event.y, event.x);
    return RTL_KEY_IGNORED;
}

static uint32_t special_key(wint_t code)
{
    static const struct {
        wint_t code;
        uint32_t key;
    } keys[] = {{KEY_UP, RTL_KEY_UP},         {KEY_DOWN, RTL_KEY_DOWN},
                {KEY_LEFT, RTL_KEY_LEFT},     {KEY_RIGHT, RTL_KEY_RIGHT},
                {KEY_PPAGE, RTL_KEY_PAGE_UP}, {KEY_NPAGE, RTL_KEY_PAGE_DOWN},
                {KEY_HOME, RTL_KEY_HOME},     {KEY_END, RTL_KEY_END},
                {KEY_ENTER, RTL_KEY_ENTER},   {KEY_BACKSPACE, RTL_KEY_BACKSPACE}};
    if (code >= KEY_F0 && code <= KEY_F(12))
        return RTL_KEY_F(code - KEY_F0);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].code == code)
            return keys[i].key;
    if (code == PASTE_BEGINS || code == PASTE_ENDS) {
        tty.pasting = code == PASTE_BEGINS;
        tty.paste_ns = rtl_mono_ns();
        return RTL_KEY_IGNORED;
    }
    return code == KEY_MOUSE ? mouse_key() : RTL_KEY_IGNORED;
}

/* True for a character of a paste. A paste whose end was lost ends with a pause. */
static bool is_pasted(void)
{
    uint64_t now_ns = rtl_mono_ns();
    if (tty.pasting && now_ns - tty.paste_ns > PASTE_PAUSE_NS)
        tty.pasting = false;
    tty.paste_ns = now_ns;
    return tty.pasting;
}

static bool read_new_key(uint32_t *key)
{
    wint_t code = tty.kept;
    int kind = tty.kept_kind;
    tty.kept_kind = ERR;
    if (kind == ERR)
        kind = get_wch(&code);
    if (kind == ERR)
        return false;
    if (kind == KEY_CODE_YES)
        *key = special_key(code);
    else if (is_pasted())
        *key = RTL_KEY_PASTED | (code == '\r' ? '\n' : (uint32_t)code);
    else if (code == 27)
        *key = after_escape();
    else
        *key = code == '\n' || code == '\r' ? RTL_KEY_ENTER : code == 8 ? RTL_KEY_BACKSPACE : (uint32_t)code;
    return true;
}

static bool read_key(uint32_t *key)
{
    if (!tty.early_count)
        return read_new_key(key);
    *key = tty.early[0];
    memmove(tty.early, tty.early + 1, (size_t)--tty.early_count * sizeof *tty.early);
    return true;
}

static bool quit_is_early(void)
{
    for (int i = 0; i < tty.early_count; i++)
        if (tty.early[i] == 'q')
            return true;
    return false;
}

bool rtl_screen_leaving(void)
{
    static uint64_t looked_ns;
    sigset_t pending;
    uint32_t key;
    if (!tty.open)
        return false;
    uint64_t now_ns = rtl_clock_ns(CLOCK_MONOTONIC_COARSE);
    if (now_ns - looked_ns < LOOK_NS)
        return quit_is_early();
    sigpending(&pending); /* blocked except in ppoll */
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        if (sigismember(&pending, deadly[i]) == 1)
            return true;
    looked_ns = now_ns;
    while (tty.early_count < EARLY_MAX && read_new_key(&key))
        tty.early[tty.early_count++] = key;
    return quit_is_early();
}

static bool take_flags(struct rtl_event *event)
{
    if (deadly_signal) {
        *event = (struct rtl_event){.kind = RTL_EVENT_SIGNAL, .signal = deadly_signal};
        return true;
    }
    if (stop_asked) {
        stop_asked = 0;
        stop_here();
    }
    if (continued) {
        continued = 0;
        take_back();
        *event = (struct rtl_event){.kind = RTL_EVENT_RESIZE};
        return true;
    }
    if (resized) {
        resized = 0;
        take_size();
        *event = (struct rtl_event){.kind = RTL_EVENT_RESIZE};
        return true;
    }
    return false;
}

struct rtl_event rtl_screen_wait(uint64_t deadline_ns)
{
    struct rtl_event event = {.kind = RTL_EVENT_TIMEOUT};
    for (bool waited = false;; waited = true) {
        struct timespec left = {0, 0};
        if (take_flags(&event))
            return event;
        if (read_key(&event.key)) {
            tty.empty_reads = 0;
            event.kind = RTL_EVENT_KEY;
            event.at_once = !waited;
            return event;
        }
        uint64_t now_ns = rtl_mono_ns();
        if (deadline_ns > now_ns) {
            left.tv_sec = (time_t)((deadline_ns - now_ns) / 1000000000ull);
            left.tv_nsec = (long)((deadline_ns - now_ns) % 1000000000ull);
        }
        struct pollfd p = {.fd = tty.in, .events = POLLIN};
        int n = ppoll(&p, 1, &left, &tty.waiting);
        if (n == 0)
            return event;
        if (n < 0)
            continue; /* a signal: take_flags handles it */
        int waiting = 0;
        bool readable = (p.revents & POLLIN) && !ioctl(tty.in, FIONREAD, &waiting) && waiting > 0;
        if (!readable && ((p.revents & (POLLHUP | POLLERR | POLLNVAL)) || ++tty.empty_reads > EMPTY_READS_MAX)) {
            event.kind = RTL_EVENT_GONE;
            return event;
        }
    }
}

/* Return the sequence (OSC 52) that copies text to the clipboard, to be freed; NULL without memory. */
static char *clipboard_sequence(const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t bytes = strlen(text), size = (bytes + 2) / 3 * 4 + 16, used = 0;
    char *sequence = malloc(size);
    if (!sequence)
        return NULL;
    used += (size_t)snprintf(sequence, size, "\033]52;c;");
    for (size_t i = 0; i < bytes; i += 3) {
        unsigned group = 0; /* three bytes, four digits */
        for (size_t n = i; n < i + 3; n++)
            group = group << 8 | (n < bytes ? (unsigned char)text[n] : 0);
        for (size_t n = 0; n < 4; n++)
            sequence[used++] = i + n <= bytes ? digits[group >> (18 - 6 * n) & 63] : '=';
    }
    snprintf(sequence + used, size - used, "\a");
    return sequence;
}

void rtl_screen_copy(const char *text)
{
    char *sequence = clipboard_sequence(text);
    if (sequence)
        send_sequence(sequence);
    free(sequence);
}

void rtl_screen_die(int sig)
{
    sigset_t set;
    signal(sig, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, sig);
    raise(sig);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + sig);
}
