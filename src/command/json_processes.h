/* Processes as JSON, for frames of several processes and for rtl-top list. */
#ifndef RTL_COMMAND_JSON_PROCESSES_H
#define RTL_COMMAND_JSON_PROCESSES_H

#include "command/json_writer.h"
#include "model/model.h"
#include "model/ranks.h"

/* Adds the keys that identify a process. */
void rtl_json_member(struct json_writer *w, struct json_object *o, const struct rtl_member *member);
/* Adds all keys of a process. */
void rtl_json_process(struct json_writer *w, struct json_object *o, const struct rtl_model *m,
                      const struct rtl_process_row *row);
/* Adds the array "processes" of a merged model. */
void rtl_json_processes(struct json_writer *w, struct json_object *root, const struct rtl_model *m);

#endif
