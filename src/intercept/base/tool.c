/* The one struct rtl_tool (tool.h). */
#include "intercept/base/tool.h"

struct rtl_tool rtl_tool = {.create = PTHREAD_MUTEX_INITIALIZER};
