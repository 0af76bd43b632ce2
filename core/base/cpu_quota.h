// SPDX-License-Identifier: Apache-2.0
//
// The CPU time that a container may use. A process with more running threads than its quota allows
// is stopped by Linux for a part of each period.
#ifndef DEPUTY_CORE_BASE_CPU_QUOTA_H_
#define DEPUTY_CORE_BASE_CPU_QUOTA_H_

namespace deputy {

// Returns the number of processors whose time the control groups of this process allow, rounded up
// and at least 1: the smallest quota of the group and its ancestors, in version 1 or 2 of Linux's
// control groups. Returns INT_MAX without a quota. Reads the files below `root` at each call; "" is
// this machine.
int QuotaOfProcessors(const char* root);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_CPU_QUOTA_H_
