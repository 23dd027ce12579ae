// SPDX-License-Identifier: Apache-2.0

// A process that cannot be reaped, as one that a dead network disk holds: its parent waits for its
// end until this program lets it go.
//
//     heldprocess PID
//
// Says "held" when it traces the process, whose end it does not look at, and lets it go at the end of
// its input. Needs CAP_SYS_PTRACE, or leave by the kernel (ptrace(2)).

#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>

int main(int count, char **arguments) {
    if (count != 2 || ptrace(PTRACE_SEIZE, atoi(arguments[1]), 0, 0) != 0) {
        perror("heldprocess");
        return 1;
    }
    puts("held");
    fflush(stdout);
    while (getchar() != EOF) {}
    return 0;
}
