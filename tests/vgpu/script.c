/*
 * script.c - durations of kernels: rules by kernel name, and the distributions that they draw from.
 *
 * A script line is `PATTERN [meets or gathers] DISTRIBUTION NUMBERS`; the first pattern that matches decides. Every
 * kernel draws from its own random stream, seeded by the seed and the kernel's name. So its durations depend neither on
 * other kernels nor on the order in which queues are served.
 */
#include "vgpu.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum form { FIXED, LOGNORMAL, BIMODAL, PARETO, UNIFORM };

static const struct {
    const char *name;
    int min_args, max_args;
    unsigned plain; /* bit i: argument i is a bare number instead of a time */
    const char *usage;
} forms[] = {
    [FIXED] = {"fixed", 1, 1, 0, "fixed TIME"},
    [LOGNORMAL] = {"lognormal", 2, 2, 1u << 1, "lognormal MEDIAN SIGMA"},
    [BIMODAL] = {"bimodal", 3, 3, 1u << 2, "bimodal TIME1 TIME2 SHARE1"},
    [PARETO] = {"pareto", 2, 3, 1u << 1, "pareto MINIMUM ALPHA [MAXIMUM]"},
    [UNIFORM] = {"uniform", 2, 2, 0, "uniform MINIMUM MAXIMUM"},
};
#define FORMS (sizeof forms / sizeof *forms)

static const char *const errors[] = {
    [VG_ERROR_MEMORY] = "memory", [VG_ERROR_APERTURE] = "aperture", [VG_ERROR_INSTRUCTION] = "instruction"};
#define ERRORS (sizeof errors / sizeof *errors)

struct vg_rule {
    struct vg_rule *next;
    enum vg_error error; /* the kernel ends with this error, or with none */
    enum vg_meeting meets;
    enum form form;
    double arg[3]; /* times in ticks */
    uint64_t fixed;
    char pattern[];
};

static struct vg_rule *rules, *former, *reading, **rules_end;
static struct stat loaded; /* the file, when it was read last */
unsigned vg_script_version;

static bool parse_time(const char *s, double *ticks)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {
        {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"ticks", VG_TICK_NS}, {"tick", VG_TICK_NS},
    };
    char *end;
    errno = 0;
    double v = strtod(s, &end);
    if (end == s || errno || !(v >= 0) || v > 1e12)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].unit)) {
            *ticks = v * units[i].ns / VG_TICK_NS;
            return *ticks <= 3600e9 / VG_TICK_NS;
        }
    return !*end && v == 0 && (*ticks = 0, true);
}

/* Parse `PATTERN fails HOW`; return an error text, or NULL. */
static const char *parse_error(struct vg_rule *r, const char *how)
{
    for (size_t i = 0; how && i < ERRORS; i++)
        if (errors[i] && !strcmp(how, errors[i]))
            r->error = (enum vg_error)i;
    return r->error ? NULL : "usage: PATTERN fails memory, aperture or instruction";
}

/* Parse one line; return an error text, or NULL. */
static const char *parse_line(char *line)
{
    static char text[160];
    char *save, *word[6] = {NULL};
    int n = 0;
    enum vg_meeting meets = VG_MEETS_NOBODY;
    line[strcspn(line, "#\r\n")] = '\0';
    for (char *w = strtok_r(line, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
        if (n == 6)
            return "too many words";
        if (n == 1 && !meets && !strcmp(w, "meets"))
            meets = VG_MEETS_RUNNING;
        else if (n == 1 && !meets && !strcmp(w, "gathers"))
            meets = VG_MEETS_BEFORE;
        else
            word[n++] = w;
    }
    if (!n)
        return NULL;
    if (n == 1)
        return "PATTERN DISTRIBUTION NUMBERS is needed";
    struct vg_rule *r = calloc(1, sizeof *r + strlen(word[0]) + 1);
    if (!r)
        return "out of memory";
    strcpy(r->pattern, word[0]);
    r->meets = meets;
    if (!strcmp(word[1], "fails")) {
        const char *wrong = parse_error(r, n == 3 ? word[2] : NULL);
        if (wrong) {
            free(r);
            return wrong;
        }
        *rules_end = r;
        rules_end = &r->next;
        return NULL;
    }
    size_t form = 0;
    while (form < FORMS && strcmp(forms[form].name, word[1]))
        form++;
    /* `PATTERN 12us` is short for fixed */
    int first = 2;
    if (form == FORMS && n == 2 && parse_time(word[1], &r->arg[0])) {
        form = FIXED;
        first = 1;
    } else if (form == FORMS) {
        snprintf(text, sizeof text, "unknown distribution '%.40s' (fixed, lognormal, bimodal, pareto, uniform)",
                 word[1]);
        free(r);
        return text;
    }
    r->form = (enum form)form;
    if (n - first < forms[form].min_args || n - first > forms[form].max_args) {
        snprintf(text, sizeof text, "usage: PATTERN %s", forms[form].usage);
        free(r);
        return text;
    }
    for (int i = 0; i < n - first; i++) {
        char *end, *w = word[first + i];
        bool ok = forms[form].plain >> i & 1 ? (r->arg[i] = strtod(w, &end), end != w && !*end && r->arg[i] >= 0)
                                             : parse_time(w, &r->arg[i]);
        if (!ok) {
            snprintf(text, sizeof text, "'%.40s' is not a %s", w,
                     forms[form].plain >> i & 1 ? "number" : "time (ns, us, ms, s, ticks)");
            free(r);
            return text;
        }
    }
    const char *wrong = form == BIMODAL && r->arg[2] > 1                       ? "SHARE1 is from 0 to 1"
                        : form == PARETO && (r->arg[1] <= 0 || r->arg[0] <= 0) ? "MINIMUM and ALPHA must be above 0"
                        : form == UNIFORM && r->arg[1] < r->arg[0]             ? "MAXIMUM is below MINIMUM"
                                                                               : NULL;
    if (wrong) {
        free(r);
        return wrong;
    }
    r->fixed = (uint64_t)llround(r->arg[0]);
    *rules_end = r;
    rules_end = &r->next;
    return NULL;
}

bool vg_script_load(const char *path, char *err, size_t err_len)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        snprintf(err, err_len, "script %s: %s", path, strerror(errno));
        return false;
    }
    char *line = NULL;
    size_t cap = 0;
    bool ok = true;
    fstat(fileno(f), &loaded);
    reading = NULL;
    rules_end = &reading;
    for (int no = 1; ok && getline(&line, &cap, f) >= 0; no++) {
        const char *wrong = parse_line(line);
        if (wrong) {
            snprintf(err, err_len, "script %s line %d: %s", path, no, wrong);
            ok = false;
        }
    }
    free(line);
    fclose(f);
    if (ok) {
        /* running kernels may have earlier rules, so these stay, behind one another */
        struct vg_rule **end = &rules;
        while (*end)
            end = &(*end)->next;
        *end = former;
        former = rules;
        rules = reading;
        vg_script_version++;
    }
    for (struct vg_rule *next, *r = ok ? NULL : reading; r; r = next) {
        next = r->next;
        free(r);
    }
    return ok;
}

void vg_script_reload(void)
{
    struct stat now;
    char err[256];
    if (stat(vg_cfg.script, &now) || (now.st_ino == loaded.st_ino && now.st_mtim.tv_sec == loaded.st_mtim.tv_sec &&
                                      now.st_mtim.tv_nsec == loaded.st_mtim.tv_nsec))
        return;
    if (!vg_script_load(vg_cfg.script, err, sizeof err))
        vg_log("%s", err);
}

enum vg_meeting vg_rule_meets(const struct vg_rule *r)
{
    return r ? r->meets : VG_MEETS_NOBODY;
}

const struct vg_rule *vg_script_match(const char *name)
{
    for (const struct vg_rule *r = rules; r; r = r->next)
        if (!fnmatch(r->pattern, name, 0))
            return r;
    return NULL;
}

enum vg_error vg_rule_error(const struct vg_rule *r)
{
    return r ? r->error : VG_ERROR_NONE;
}

/* xoshiro256+ (only its upper bits are used), seeded through splitmix64 from the seed and an FNV hash of the name. */
static uint64_t splitmix64(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

void vg_rng_seed(uint64_t rng[4], uint64_t seed, const char *name)
{
    uint64_t h = 0xcbf29ce484222325ull;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3ull;
    h ^= splitmix64(&seed);
    for (int i = 0; i < 4; i++)
        rng[i] = splitmix64(&h);
}

static double uniform(uint64_t s[4]) /* in (0, 1] */
{
    uint64_t result = s[0] + s[3], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return (double)((result >> 11) + 1) * 0x1p-53;
}

uint64_t vg_draw_ticks(const struct vg_rule *r, uint64_t rng[4])
{
    if (!r)
        return vg_cfg.default_ticks;
    double v = 0;
    switch (r->form) {
    case FIXED:
        return r->fixed;
    case LOGNORMAL: {
        double u = uniform(rng), phase = uniform(rng);
        v = r->arg[0] * exp(r->arg[1] * sqrt(-2 * log(u)) * cos(2 * M_PI * phase));
        break;
    }
    case BIMODAL:
        v = uniform(rng) <= r->arg[2] ? r->arg[0] : r->arg[1];
        break;
    case PARETO:
        v = r->arg[0] * pow(uniform(rng), -1 / r->arg[1]);
        if (r->arg[2] > 0 && v > r->arg[2])
            v = r->arg[2];
        break;
    case UNIFORM:
        v = r->arg[0] + (r->arg[1] - r->arg[0]) * uniform(rng);
        break;
    }
    /* At most one day: a heavy tail must not overflow the clock. */
    double limit = 86400e9 / VG_TICK_NS;
    return (uint64_t)llround(v < limit ? v : limit);
}
