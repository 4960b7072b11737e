/* Processes in JSON, for frames of several and for the list. */
#ifndef RTL_COMMAND_JSON_PROCESSES_H
#define RTL_COMMAND_JSON_PROCESSES_H

#include "command/json_writer.h"
#include "model/model.h"
#include "model/ranks.h"

/* Which process it is, wherever one is named. */
void rtl_json_member(struct json_writer *w, struct json_object *o, const struct rtl_member *member);
/* One of them altogether, into its object. */
void rtl_json_process(struct json_writer *w, struct json_object *o, const struct rtl_model *m,
                      const struct rtl_process_row *row);
/* All of a model that watches several: the array "processes". */
void rtl_json_processes(struct json_writer *w, struct json_object *root, const struct rtl_model *m);

#endif
