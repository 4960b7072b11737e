/*
 * How much work a file may cause. Pages that point to one another in a circle are endless, so the work of a statement
 * is counted, and more of it than the file's size explains is damage. The same count is where a user is heard who wants
 * to leave.
 */
#include "record/db_work.h"
#include "record/db_files.h"

enum {
    WORK_FIRST = 20000000,
    WORK_BYTE = 64, /* steps; reading a byte of a recording takes two or three */
    WORK_HURRY = 2000000
};

static _Thread_local bool (*wants_to_leave)(void);

void rtl_db_stop_when(bool (*asked)(void))
{
    wants_to_leave = asked;
}

bool rtl_db_give_up(struct rtl_db *db, uint64_t work)
{
    *db->meter += work;
    if (db->given_up)
        return true;
    if (*db->meter > db->budget) {
        db->budget = WORK_FIRST + WORK_BYTE * rtl_db_files_size(db->files); /* it may have grown */
        if (*db->meter > db->budget)
            db->given_up = RTL_DB_CORRUPT;
    }
    /* what is written is finished first, unless it takes long */
    if (wants_to_leave && (!db->write || *db->meter > WORK_HURRY) && wants_to_leave())
        db->given_up = RTL_DB_STOPPED;
    return db->given_up != RTL_DB_OK;
}
