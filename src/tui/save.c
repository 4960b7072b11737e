/* What key W writes. See save.h. */
#include "tui/save.h"
#include "options/config.h"
#include "text/text.h"

#include <string.h>

void rtl_ui_save(struct rtl_ui *ui, const struct rtl_options *options)
{
    char path[PATH_MAX], why[PATH_MAX + 200], safe[4 * PATH_MAX + 1];
    struct rtl_settings s = *rtl_config_settings();
    s.sort = ui->model->sort;
    s.reverse = ui->model->reverse;
    s.window_ns = ui->model->window_ns;
    s.units = ui->units;
    s.has[RTL_SETTING_SORT] = s.has[RTL_SETTING_WINDOW] = s.has[RTL_SETTING_UNITS] = true;
    s.columns = ui->columns;
    memcpy(s.column_places, ui->column_places, sizeof s.column_places);
    s.has[RTL_SETTING_COLUMNS] |= ui->columns != 0; /* as many as there is room for goes without saying */
    if (!ui->replay) {                              /* the interval of a replay is the recorder's */
        s.interval_ns = ui->interval_ns;
        s.has[RTL_SETTING_INTERVAL] = true;
    }
    if (rtl_option_asked(options, RTL_OPTION_THEME)) {
        s.theme = options->theme;
        s.has[RTL_SETTING_THEME] = true;
    }
    if (rtl_option_asked(options, RTL_OPTION_NO_MOUSE)) {
        s.mouse = false;
        s.has[RTL_SETTING_MOUSE] = true;
    }
    bool saved = rtl_config_save(&s, path, why, sizeof why);
    rtl_text_escape(safe, sizeof safe, saved ? path : why, strlen(saved ? path : why));
    rtl_ui_say(ui, "%s%s", saved ? "settings written to " : "not written: ", safe);
}
