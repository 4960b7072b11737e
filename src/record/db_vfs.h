/* The files of one database, as the file system that SQLite sees. See db_vfs.c. */
#ifndef RTL_RECORD_DB_VFS_H
#define RTL_RECORD_DB_VFS_H

#include "record/db_private.h"

struct stat;

/* Open db->path through a file system of its own; sets db->files and db->handle. Returns SQLite's code. */
int rtl_db_files_open(struct rtl_db *db);
void rtl_db_files_free(struct rtl_db_files *files); /* after the database was closed */
/* Return and clear why a file beside the database was refused: the status and a line; OK if none was. */
enum rtl_db_status rtl_db_files_refused(struct rtl_db_files *files, char *why, size_t why_bytes);
bool rtl_db_files_is(const struct rtl_db_files *files, const struct stat *info); /* is this the open file? */
uint64_t rtl_db_files_size(const struct rtl_db_files *files);                    /* of the database */
uint64_t rtl_db_files_log_size(const struct rtl_db_files *files);                /* of its -wal, 0 without one */
/* Read the first bytes of the file; returns their number, fewer for a shorter file, -1 if it can't be read. */
int rtl_db_files_head(struct rtl_db_files *files, unsigned char *head, int bytes);
/* Empty the file and remove the files beside it, unless another process has it locked. Returns SQLite's code. */
int rtl_db_files_empty(struct rtl_db_files *files);

/* Charge steps of work; true if the work exceeds the budget, which grows with the file, or if the user asked to leave.
 */
bool rtl_db_give_up(struct rtl_db *db, uint64_t work);

#endif
