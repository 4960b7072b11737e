/* The rocpd schema: tables, views and the packed shape of an op. Names of tables, columns and views are the format. */
#ifndef RTL_RECORD_ROCPD_SCHEMA_H
#define RTL_RECORD_ROCPD_SCHEMA_H

#include "record/db.h"

enum { RTL_ROCPD_SCHEMA = 3 };

extern const struct rtl_db_set rtl_rocpd_set;

/* Views that an earlier rtl-top may have made differently: a new recording updates them. */
enum { RTL_ROCPD_VIEWS = 5 };
struct rtl_rocpd_view {
    const char *name, *sql; /* the statement as SQLite keeps it */
};
extern const struct rtl_rocpd_view rtl_rocpd_views[RTL_ROCPD_VIEWS];

/* The query of the view `boot`, for files without that view. */
extern const char rtl_rocpd_boot_sql[];

/* Return the SQL expression for the shape of an op as text, for a row of rocpd_op in this file of any tool. */
const char *rtl_rocpd_signal(struct rtl_db *db);

/* Pack work-items and workgroup into the value of `dims`; false if they don't fit and have to be text. Pure. */
bool rtl_rocpd_pack(const uint32_t grid[3], const uint16_t workgroup[3], int64_t *dims);

#endif
