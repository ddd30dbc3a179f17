// Ctrl-C as a value.
#pragma once

namespace podere {

/// From now on SIGINT, SIGTERM and SIGHUP are counted instead of ending the process, but for those that are ignored
/// (nohup). System calls that wait return early when one comes.
void count_interrupts();

/// How many came so far.
int interrupts();

/// From now on SIGUSR1 is noted instead of ending the process: a notice that executors are about to be lost.
void note_notices();

/// Whether one came since the last call.
bool take_notice();

/// Thrown where a command ends because of an interrupt without anything to keep.
struct Interrupted {};

}  // namespace podere
