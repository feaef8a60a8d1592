// SPDX-License-Identifier: BSD-2-Clause
// The only program of the machine that runs the KUnit tests: loads them, which runs them.
#include <fcntl.h>
#include <stdio.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
    int module = open("/moderato_kunit.ko", O_RDONLY | O_CLOEXEC);

    if (module < 0 || syscall(SYS_finit_module, module, "", 0))
        perror("moderato_kunit.ko");
    reboot(RB_POWER_OFF);
    return 1;
}
