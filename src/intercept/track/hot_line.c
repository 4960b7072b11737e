/* The one struct rtl_hot_line (hot_line.h). */
#include "intercept/track/hot_line.h"

#include "shm/segment_writer.h"

struct rtl_hot_line rtl_hot = {.control = &rtl_control_none};
