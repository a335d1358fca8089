// What a thread of ours that runs often and briefly tells the scheduler.
#pragma once

namespace tarsier::linux {

// The calling thread is content with turns of a tenth of a millisecond. From Linux 6.12 on whoever says so gets them
// sooner, also on a busy machine; that needs no right. Elsewhere it does nothing.
void ask_for_short_turns();

}  // namespace tarsier::linux
