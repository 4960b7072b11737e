/* How much work a file may cause, and who may end it before. */
#ifndef RTL_RECORD_DB_WORK_H
#define RTL_RECORD_DB_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_db;

/*
 * Asked while a database that this thread uses works, very often: whether the user wants to leave. Then the statement
 * ends with RTL_DB_STOPPED, and rtl_db_rollback makes the database usable again. NULL: nobody is asked. What is written
 * is only left off when it takes long.
 */
void rtl_db_stop_when(bool (*asked)(void));

/* Charges work; true when it was too much, or when the user has asked to leave. Only the database layer calls it. */
bool rtl_db_give_up(struct rtl_db *db, uint64_t work);

#endif
