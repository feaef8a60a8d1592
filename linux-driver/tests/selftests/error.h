/* SPDX-License-Identifier: BSD-2-Clause */
/* glibc's error(), which the kernel's selftests use and musl lacks */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void error(int status, int number, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fprintf(stderr, number ? ": %s\n" : "\n", strerror(number));
	if (status)
		exit(status);
}
