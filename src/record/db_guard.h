/* What keeps a file from doing harm. See db_guard.c. */
#ifndef RTL_RECORD_DB_GUARD_H
#define RTL_RECORD_DB_GUARD_H

struct rtl_db;

void rtl_db_guard(struct rtl_db *db); /* of a connection that was just opened */

#endif
