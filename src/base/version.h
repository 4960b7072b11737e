/* The version of librtl.so and rtl-top, which are built and installed together. */
#ifndef RTL_BASE_VERSION_H
#define RTL_BASE_VERSION_H

#define RTL_VERSION "0.1.0"
/* Releases of the HSA runtime that the tests run on (make check, make check-releases). */
#define RTL_RELEASES_TESTED "5.2.3, 6.1.2, 6.4.3, 7.2.4"

#endif
