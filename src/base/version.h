/* The version of librtl.so and rtl-top: they are built and installed together. */
#ifndef RTL_BASE_VERSION_H
#define RTL_BASE_VERSION_H

#define RTL_VERSION "0.1.0"

#endif
