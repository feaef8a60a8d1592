// SPDX-License-Identifier: BSD-2-Clause
// Verilator's writer of FST files, without the checks that end the process when the disk is full: Wave::close() reports
// a full disk.
#if VM_TRACE

#include "fstcpp/fstcpp_assertion.h"
#undef FST_DCHECK_EQ
#define FST_DCHECK_EQ(a, b)
#include "verilated_fst_c.cpp"

#endif
