// What the program has been told, and where it keeps things. Only for src/**/*.bpf.c.
#pragma once

#include "linux/bpf/fragment_layout.h"
#include "linux/bpf/helpers.h"

const volatile struct Settings settings = {};

MAP(threads);     // hash: thread id -> struct Thread
MAP(bottoms);     // one struct Told, which the agent writes
MAP(ring);        // of records
MAP(periods);     // array: CPU -> what a tick stands for
MAP(counters);    // one struct Counters for each CPU
MAP(identities);  // array of struct Identity: kSeen, kTrusted
MAP(scratches);   // array: CPU -> struct Scratch; one entry only if there are no virtual threads
