#include "recording/events.h"

#include <array>

namespace tarsier::recording {
namespace {

constexpr Field kExecutionSample[] = {
    {"sampledThread", Kind::kThread, "Thread"},
    {"stackTrace", Kind::kStack, "Stack Trace"},
    {"state", Kind::kThreadState, "Thread State"},
    {"weight", Kind::kNanos, "Weight", "The CPU time that this sample stands for"},
    {"imprecise", Kind::kBool, "Imprecise",
     "The innermost frame was compiled before DebugNonSafepoints was on: its line and inlining may be wrong"},
    {"failure", Kind::kString, "Failure", "Why the stack could not be walked; null if it was"},
    {"carrier", Kind::kThread, "Carrier", "The platform thread that the sampled virtual thread ran on"},
};

constexpr Field kWallSample[] = {
    {"sampledThread", Kind::kThread, "Thread"},
    {"stackTrace", Kind::kStack, "Stack Trace"},
    {"state", Kind::kThreadState, "Thread State", "Sleeping if it waited for anything but a CPU"},
    {"weight", Kind::kNanos, "Weight", "The time that this sample stands for"},
    {"imprecise", Kind::kBool, "Imprecise",
     "The innermost frame was compiled before DebugNonSafepoints was on: its line and inlining may be wrong"},
    {"failure", Kind::kString, "Failure", "Why the stack could not be walked; null if it was"},
    {"carrier", Kind::kThread, "Carrier", "The platform thread that the sampled virtual thread ran on"},
    {"repeated", Kind::kBool, "Repeated",
     "The thread had not run since its last sample: it was left in peace, and the stack is the same"},
};

constexpr Field kWait[] = {
    {"sampledThread", Kind::kThread, "Thread"},
    {"stackTrace", Kind::kStack, "Stack Trace"},
    {"state", Kind::kThreadState, "Thread State"},
    {"weight", Kind::kNanos, "Length", "How long it waited, without the time in the run queue afterwards"},
    {"imprecise", Kind::kBool, "Imprecise",
     "The innermost frame was compiled before DebugNonSafepoints was on: its line and inlining may be wrong"},
    {"failure", Kind::kString, "Failure", "Why the stack could not be walked; null if it was"},
    {"carrier", Kind::kThread, "Carrier", "The platform thread that the waiting virtual thread was mounted on"},
    {"kind", Kind::kString, "Kind",
     "sleeping, parked, waiting (Object.wait), monitor, socket, file, pipe, selector, io, page fault, native or vm"},
    {"ongoing", Kind::kBool, "Ongoing", "It was not over when the recording ended: the length so far"},
    {"fromBefore", Kind::kBool, "From Before", "It had begun before the recording did: the length since then"},
    {"waker", Kind::kThread, "Waker", "The thread of this JVM that has woken it; null: none, or not known"},
    {"wakerStackTrace", Kind::kStack, "Waker Stack Trace", "Where the waker was then; null if it is no Java thread"},
    {"wokenBy", Kind::kString, "Woken By",
     "thread (of Java), jvm (another thread of the JVM), process (another one), interrupt (a timer, a device), ongoing "
     "(nobody yet) or unknown"},
    {"wakerName", Kind::kString, "Waker Name", "Of another process; else null"},
    {"wakerProcess", Kind::kLong, "Waker Process", "Its id, as the machine counts them; else 0"},
};

constexpr Field kObjectAllocationSample[] = {
    {"eventThread", Kind::kThread, "Event Thread", "Thread in which event was committed in"},
    {"stackTrace", Kind::kStack, "Stack Trace", "Stack Trace starting from the method the event was committed in"},
    {"objectClass", Kind::kClass, "Object Class", "Class of allocated object"},
    {"weight", Kind::kBytes, "Sample Weight",
     "How many bytes this sample stands for: sums over any group of samples are unbiased"},
    {"size", Kind::kBytes, "Size",
     "Of the sampled object itself; weight / size is the number of objects it stands for"},
    {"failure", Kind::kString, "Failure", "Why there is no stack; null if there is one"},
};

constexpr Field kJavaMonitorEnter[] = {
    {"duration", Kind::kNanos, "Duration"},
    {"eventThread", Kind::kThread, "Event Thread", "Thread in which event was committed in"},
    {"stackTrace", Kind::kStack, "Stack Trace", "Stack Trace starting from the method the event was committed in"},
    {"monitorClass", Kind::kClass, "Monitor Class"},
    {"previousOwner", Kind::kThread, "Previous Monitor Owner",
     "Who held it when the thread began to block; null: not known"},
    {"address", Kind::kLong, "Monitor Address", "Of the JVM's monitor, which may serve other objects later"},
    {"identity", Kind::kInt, "Identity Hash", "Of the object: System.identityHashCode"},
    {"generation", Kind::kLong, "Generation",
     "One period in which the monitor was contended, and did not change its object"},
    {"sequence", Kind::kLong, "Sequence",
     "Drawn when it was entered: orders the events of a generation, without gaps; 0 if it was not"},
    {"afterWait", Kind::kBool, "After Wait", "It was re-acquired after Object.wait"},
    {"ongoing", Kind::kBool, "Ongoing", "The thread was still blocked when the recording ended: the length so far"},
    {"failure", Kind::kString, "Failure", "Why the stack could not be walked; null if it was"},
    {"carrier", Kind::kThread, "Carrier", "The platform thread that the virtual thread was mounted on"},
};

constexpr Field kMonitorExit[] = {
    {"eventThread", Kind::kThread, "Event Thread", "Who held it"},
    {"stackTrace", Kind::kStack, "Stack Trace", "Of the release"},
    {"monitorClass", Kind::kClass, "Monitor Class"},
    {"address", Kind::kLong, "Monitor Address"},
    {"identity", Kind::kInt, "Identity Hash"},
    {"generation", Kind::kLong, "Generation"},
    {"sequence", Kind::kLong, "Sequence", "Drawn while it was still held; 0 if that was not possible"},
    {"how", Kind::kString, "How",
     "exit: seen while it was held; unlock: compiled code had just released it; wait: by Object.wait"},
    {"nextOwner", Kind::kThread, "Next Owner", "Who held it just afterwards; null: nobody, or not known"},
    {"failure", Kind::kString, "Failure", "Why the stack could not be walked; null if it was"},
    {"carrier", Kind::kThread, "Carrier", "The platform thread that the virtual thread was mounted on"},
};

constexpr Field kJavaMonitorWait[] = {
    {"duration", Kind::kNanos, "Duration"},
    {"eventThread", Kind::kThread, "Event Thread", "Thread in which event was committed in"},
    {"stackTrace", Kind::kStack, "Stack Trace", "Stack Trace starting from the method the event was committed in"},
    {"monitorClass", Kind::kClass, "Monitor Class Waited On"},
    {"notifier", Kind::kThread, "Notifier Thread",
     "Who has notified it; null: nobody, or one of several who notified meanwhile"},
    {"timeout", Kind::kNanos, "Wait Timeout", "0: none"},
    {"timedOut", Kind::kBool, "Timed Out", "Nobody has notified it in time"},
    {"address", Kind::kLong, "Monitor Address", "Of the JVM's monitor, which may serve other objects later"},
    {"identity", Kind::kInt, "Identity Hash", "Of the object: System.identityHashCode"},
    {"failure", Kind::kString, "Failure", "Why the stack could not be walked; null if it was"},
};

constexpr Field kThreadPark[] = {
    {"duration", Kind::kNanos, "Duration"},
    {"eventThread", Kind::kThread, "Event Thread", "Thread in which event was committed in"},
    {"stackTrace", Kind::kStack, "Stack Trace", "Stack Trace starting from the method the event was committed in"},
    {"parkedClass", Kind::kClass, "Class Parked On"},
    {"timeout", Kind::kNanos, "Park Timeout", "Long.MIN_VALUE: none"},
    {"until", Kind::kEpochMillis, "Park Until", "Long.MIN_VALUE: none"},
    {"address", Kind::kLong, "Address of Object Parked", "Always 0: objects move"},
    {"identity", Kind::kInt, "Identity Hash", "Of the object: System.identityHashCode; 0: there is none"},
    {"sequence", Kind::kLong, "Sequence", "Of all parks and unparks, as they were written: none is missing in between"},
    {"owner", Kind::kThread, "Owner", "Who held the lock exclusively when the thread parked; null: not known"},
    {"ongoing", Kind::kBool, "Ongoing", "The thread was still parked when the recording ended: the length so far"},
    {"failure", Kind::kString, "Failure", "Why the stack could not be walked; null if it was"},
    {"carrier", Kind::kThread, "Carrier", "The platform thread that the virtual thread was mounted on"},
    {"ended", Kind::kString, "Ended",
     "timeout: its time was up; interrupt: the thread was interrupted; null: neither, or an unpark came as well"},
    {"conditionOf", Kind::kClass, "Condition Of", "The class of the lock whose condition it waited for; null: of none"},
    {"conditionOfIdentity", Kind::kInt, "Condition Of Identity Hash", "Of that lock: System.identityHashCode"},
};

constexpr Field kUnpark[] = {
    {"eventThread", Kind::kThread, "Event Thread", "Who unparked"},
    {"stackTrace", Kind::kStack, "Stack Trace"},
    {"target", Kind::kThread, "Target", "Who was unparked"},
    {"sequence", Kind::kLong, "Sequence", "Of all parks and unparks, as they were written: none is missing in between"},
    {"failure", Kind::kString, "Failure", "Why the stack could not be walked; null if it was"},
    {"carrier", Kind::kThread, "Carrier", "The platform thread that the virtual thread was mounted on"},
};

constexpr Field kLockHold[] = {
    {"duration", Kind::kNanos, "Duration"},
    {"eventThread", Kind::kThread, "Event Thread", "Who held it"},
    {"stackTrace", Kind::kStack, "Stack Trace", "Of the release"},
    {"lockClass", Kind::kClass, "Lock Class", "Of what others park on"},
    {"identity", Kind::kInt, "Identity Hash", "Of that: System.identityHashCode"},
    {"mode", Kind::kString, "Mode", "read, write, permit; latch: it was the last to count down"},
    {"fromBefore", Kind::kBool, "From Before", "It was acquired before it was watched: when is not known"},
    {"ongoing", Kind::kBool, "Ongoing", "It was still held when the recording ended: the length so far"},
    {"failure", Kind::kString, "Failure", "Why the stack could not be walked; null if it was"},
    {"carrier", Kind::kThread, "Carrier", "The platform thread that the virtual thread was mounted on"},
};

// One for each thread of a circle, in its order: the owner of one is the thread of the next.
constexpr Field kDeadlock[] = {
    {"eventThread", Kind::kThread, "Event Thread", "Who waits"},
    {"stackTrace", Kind::kStack, "Stack Trace", "Where it waits"},
    {"lockClass", Kind::kClass, "Lock Class"},
    {"identity", Kind::kInt, "Identity Hash", "Of the object: System.identityHashCode; 0: not known"},
    {"kind", Kind::kString, "Kind", "monitor, or synchronizer: a lock of java.util.concurrent"},
    {"owner", Kind::kThread, "Owner", "Who holds it"},
    {"cycle", Kind::kInt, "Cycle", "Which deadlock of this recording it is part of, from 1 on"},
};

constexpr Field kJvmInformation[] = {
    {"jvmName", Kind::kString, "JVM Name"},
    {"jvmVersion", Kind::kString, "JVM Version"},
    {"jvmArguments", Kind::kString, "JVM Command Line Arguments"},
    {"jvmFlags", Kind::kString, "JVM Settings File Arguments"},
    {"javaArguments", Kind::kString, "Java Application Arguments"},
    {"jvmStartTime", Kind::kEpochMillis, "JVM Start Time"},
    {"pid", Kind::kLong, "Process Identifier"},
};

constexpr Field kSession[] = {
    {"tarsierVersion", Kind::kString, "Tarsier Version"},
    {"jvm", Kind::kString, "JVM", "Version as the JVM prints it"},
    {"pid", Kind::kLong, "Process Identifier"},
    {"cpus", Kind::kInt, "CPUs", "CPUs that the JVM may use"},
    {"attached", Kind::kBool, "Attached", "True if the agent was loaded into a running JVM"},
    {"uptime", Kind::kNanos, "Uptime", "Age of the JVM when the session began"},
    {"options", Kind::kString, "Options", "What the session was asked for"},
};

constexpr Field kEngineUsed[] = {
    {"engine", Kind::kString, "Engine"},
    {"mechanism", Kind::kString, "Mechanism", "The clock or hook that was chosen"},
    {"why", Kind::kString, "Reason", "Why this mechanism and no better one"},
    {"interval", Kind::kNanos, "Interval", "Mean time between two samples of a running thread; 0 if it has none"},
    {"intervalBytes", Kind::kBytes, "Interval In Bytes",
     "Mean number of bytes that a thread allocates between two samples; 0 if it has none"},
};

// Cumulative since the session began; the last one of an engine counts.
constexpr Field kEngineSamples[] = {
    {"engine", Kind::kString, "Engine"},
    {"taken", Kind::kLong, "Taken", "Counted where they were taken"},
    {"written", Kind::kLong, "Written", "Counted where they were written into this recording"},
    {"failed", Kind::kLong, "Failed", "Of those written: without a stack"},
};
constexpr Field kEngineDropped[] = {
    {"engine", Kind::kString, "Engine"},
    {"cause", Kind::kString, "Cause"},
    {"count", Kind::kLong, "Count"},
};
constexpr Field kEngineCounter[] = {
    {"engine", Kind::kString, "Engine"},
    {"name", Kind::kString, "Name"},
    {"value", Kind::kLong, "Value"},
};

// Cumulative since the session began; kUnknown: not known.
constexpr Field kThreadCpu[] = {
    {"thread", Kind::kThread, "Thread"},
    {"kind", Kind::kString, "Kind", "app, gc, jit, vm, jfr, tarsier or other"},
    {"sampled", Kind::kBool, "Sampled", "True if an engine samples this thread"},
    {"cpu", Kind::kNanos, "CPU Time", "Used since the session began"},
    {"system", Kind::kNanos, "System Time", "Of it in the kernel"},
    {"runQueue", Kind::kNanos, "Run Queue", "Could have run, but had no CPU"},
    {"voluntarySwitches", Kind::kLong, "Voluntary Context Switches", "Went to sleep"},
    {"involuntarySwitches", Kind::kLong, "Involuntary Context Switches", "Lost its CPU to another thread"},
    {"minorFaults", Kind::kLong, "Minor Page Faults"},
    {"majorFaults", Kind::kLong, "Major Page Faults", "Had to be read from a disk"},
    {"migrations", Kind::kLong, "Migrations", "From one CPU to another"},
    {"steal", Kind::kNanos, "Steal Time", "Its part of what the hypervisor took, in proportion to its CPU time"},
    {"stealScheduled", Kind::kNanos, "Steal Time by Schedule",
     "Its part of what the hypervisor took from the CPUs that it was on, by the time that it was there"},
};

constexpr Field kThreadStart[] = {
    {"eventThread", Kind::kThread, "Event Thread", "Thread in which event was committed in"},
    {"stackTrace", Kind::kStack, "Stack Trace", "Stack Trace starting from the method the event was committed in"},
    {"thread", Kind::kThread, "New Java Thread"},
    {"parentThread", Kind::kThread, "Parent Java Thread"},
};

constexpr Field kThreadEnd[] = {
    {"eventThread", Kind::kThread, "Event Thread", "Thread in which event was committed in"},
    {"thread", Kind::kThread, "Java Thread"},
};

constexpr Field kThreadCpuLoad[] = {
    {"eventThread", Kind::kThread, "Event Thread", "Thread in which event was committed in"},
    {"user", Kind::kShare, "User Mode CPU Load", "User mode thread CPU load"},
    {"system", Kind::kShare, "System Mode CPU Load", "System mode thread CPU load"},
};

// Cumulative since the session began, or since the counter was opened in the thread.
constexpr Field kThreadCounter[] = {
    {"thread", Kind::kThread, "Thread"},
    {"name", Kind::kString, "Name", "Of the event that is counted, as perf calls it"},
    {"value", Kind::kLong, "Value", "Scaled up if the counter was shared with others"},
    {"enabled", Kind::kNanos, "Enabled", "How long it should have counted"},
    {"running", Kind::kNanos, "Running", "How long it did: less if the hardware has too few counters"},
};

// Cumulative since the session began. What was stolen is what the threads, the other processes and nobody had.
constexpr Field kMachineCpu[] = {
    {"busy", Kind::kNanos, "Busy", "Time of all CPUs in which they ran something, without what was stolen"},
    {"idle", Kind::kNanos, "Idle"},
    {"steal", Kind::kNanos, "Steal Time", "Taken by the hypervisor while there was something to run"},
    {"stealOfThreads", Kind::kNanos, "Of This Process", "Its part, in proportion to CPU time"},
    {"stealOfOthers", Kind::kNanos, "Of Other Processes"},
    {"stealRemainder", Kind::kNanos, "Of Nobody", "Nobody was seen to use a CPU meanwhile"},
    {"processCpu", Kind::kNanos, "CPU Time of This Process"},
    {"inCpuTime", Kind::kString, "In CPU Time",
     "included or excluded: does the kernel count stolen time as CPU time of the threads?"},
    {"source", Kind::kString, "Source", "Where these numbers come from, and how it was found out"},
};

constexpr Field kGcPhasePause[] = {
    {"duration", Kind::kNanos, "Duration"},
    {"eventThread", Kind::kThread, "Event Thread", "Thread in which event was committed in"},
    {"gcId", Kind::kInt, "GC Identifier",
     "Numbers the pauses of this recording from 0 on: the JVM does not tell its own"},
    {"name", Kind::kString, "Name", "The collector and the cause, as the JVM calls them"},
};

// Not cumulative: what came to the counters of the JVM in this time.
constexpr Field kSafepoints[] = {
    {"duration", Kind::kNanos, "Duration"},
    {"count", Kind::kLong, "Count", "Of safepoints"},
    {"time", Kind::kNanos, "Time", "From asking the threads to stop until they went on"},
    {"timeToStop", Kind::kNanos, "Time to Stop", "Of it: until all of them had stopped"},
};

// Cumulative since the session began; the last one of a thread and a part counts.
constexpr Field kThreadTime[] = {
    {"thread", Kind::kThread, "Thread"},
    {"part", Kind::kString, "Part",
     "cpu, run queue, waits, short waits, long waits, missed waits or open wait: together all of the thread's time"},
    {"time", Kind::kNanos, "Time"},
    {"count", Kind::kLong, "Count", "Of waits"},
};

constexpr Field kOverhead[] = {
    {"appThreads", Kind::kNanos, "In Application Threads", "Measured inside our handlers since the session began"},
    {"background", Kind::kNanos, "In The Background", "CPU time of our own thread since the session began"},
    {"memory", Kind::kBytes, "Memory", "What the agent holds for this session"},
};

constexpr Field kSavedJvm[] = {
    {"architecture", Kind::kString, "Architecture", "aarch64 or x86_64"},
    {"release", Kind::kInt, "Release", "The JVM's major version"},
    {"structs", Kind::kString, "Structs", "What the decoder needs of the tables in which the JVM describes its layout"},
};

constexpr Field kSavedMemory[] = {
    {"address", Kind::kLong, "Address"},
    {"size", Kind::kBytes, "Size"},
    {"content", Kind::kBinary, "Content", "What lies there from now on; empty if it can't be read any more"},
};

constexpr Field kSavedFragment[] = {
    {"sampledThread", Kind::kThread, "Thread"},
    {"pc", Kind::kLong, "Program Counter"},
    {"sp", Kind::kLong, "Stack Pointer"},
    {"fp", Kind::kLong, "Frame Pointer"},
    {"registers", Kind::kBinary, "Registers", "The general ones, eight bytes each"},
    {"anchorSp", Kind::kLong, "Anchor: Stack Pointer", "Where the thread has left Java code; 0: it has not"},
    {"anchorPc", Kind::kLong, "Anchor: Program Counter"},
    {"anchorFp", Kind::kLong, "Anchor: Frame Pointer"},
    {"continuation", Kind::kLong, "Continuation", "Where the thread has entered a virtual thread; 0: it has not"},
    {"threadState", Kind::kInt, "Thread State", "As the JVM counts them"},
    {"stack", Kind::kBinary, "Stack", "From sp on"},
    {"cut", Kind::kBool, "Cut", "The stack goes on behind that"},
    {"frozen", Kind::kBinary, "Frozen Frames", "Of a virtual thread: pieces of stack that lay in the heap"},
    {"frozenCut", Kind::kBool, "Frozen Frames Cut", "There were more of them"},
    {"epoch", Kind::kLong, "Epoch", "Of class unloading, when the fragment was copied"},
    {"decodedIn", Kind::kLong, "Decoded In", "The epoch in which it was decoded"},
    {"rules", Kind::kBinary, "Rules", "How to leave the native functions that the walk has met"},
    {"maxDepth", Kind::kInt, "Max Depth"},
    {"result", Kind::kString, "Result", "The stack as it was decoded"},
    {"asWritten", Kind::kBool, "As Written", "The sample in this recording has the same stack"},
};

constexpr std::array<EventType, static_cast<size_t>(Event::kCount)> kTypes = {{
    {Event::kExecutionSample, "jdk.ExecutionSample", "Method Profiling Sample", "Java Virtual Machine/Profiling",
     "A thread that was running, interrupted without waiting for a safepoint", kExecutionSample},
    {Event::kWallSample, "tarsier.WallSample", "Wall Clock Sample", "Tarsier",
     "A thread, whether it was running or waiting", kWallSample},
    {Event::kWait, "tarsier.Wait", "Wait", "Tarsier", "A thread waited, for anything but a CPU", kWait},
    {Event::kObjectAllocationSample, "jdk.ObjectAllocationSample", "Object Allocation Sample",
     "Java Virtual Machine/GC", "An object that was allocated, drawn with a probability that grows with its size",
     kObjectAllocationSample},
    {Event::kJavaMonitorEnter, "jdk.JavaMonitorEnter", "Java Monitor Blocked", "Java Application",
     "A thread was blocked by a monitor that another one held", kJavaMonitorEnter},
    {Event::kMonitorExit, "tarsier.MonitorExit", "Monitor Exit", "Tarsier",
     "A monitor for which others were blocked was released", kMonitorExit},
    {Event::kJavaMonitorWait, "jdk.JavaMonitorWait", "Java Monitor Wait", "Java Application",
     "A thread waited in Object.wait, until it was notified or its time was up", kJavaMonitorWait},
    {Event::kThreadPark, "jdk.ThreadPark", "Java Thread Park", "Java Application",
     "A thread was parked: waited for a lock, or for anything else, of java.util.concurrent", kThreadPark},
    {Event::kUnpark, "tarsier.Unpark", "Unpark", "Tarsier", "A thread let another one that is parked go on", kUnpark},
    {Event::kLockHold, "tarsier.LockHold", "Lock Hold", "Tarsier",
     "A lock that others waited for was held, and is released", kLockHold},
    {Event::kDeadlock, "tarsier.Deadlock", "Deadlock", "Tarsier",
     "Threads wait for one another, and none will ever go on; when it was noticed", kDeadlock},
    {Event::kThreadStart, "jdk.ThreadStart", "Java Thread Start", "Java Application", "A thread began to run Java code",
     kThreadStart},
    {Event::kThreadEnd, "jdk.ThreadEnd", "Java Thread End", "Java Application", "A thread has ended", kThreadEnd},
    {Event::kJvmInformation, "jdk.JVMInformation", "JVM Information", "Java Virtual Machine",
     "Description of the JVM and of the Java application", kJvmInformation},
    {Event::kSession, "tarsier.Session", "Session", "Tarsier", "One run of the agent", kSession},
    {Event::kEngineUsed, "tarsier.EngineUsed", "Engine Used", "Tarsier", "An engine, its mechanism and the reason",
     kEngineUsed},
    {Event::kEngineSamples, "tarsier.EngineSamples", "Engine Samples", "Tarsier",
     "taken = written + dropped, once the session has ended", kEngineSamples},
    {Event::kEngineDropped, "tarsier.EngineDropped", "Engine Dropped", "Tarsier",
     "Samples that were taken and not written, by cause", kEngineDropped},
    {Event::kEngineCounter, "tarsier.EngineCounter", "Engine Counter", "Tarsier",
     "A number that an engine reports about itself", kEngineCounter},
    {Event::kThreadCpu, "tarsier.ThreadCpu", "Thread CPU", "Tarsier", "CPU time of a thread by the kernel's account",
     kThreadCpu},
    {Event::kThreadCpuLoad, "jdk.ThreadCPULoad", "Thread CPU Load", "Operating System/Processor",
     "What a thread has used of all CPUs since the last one", kThreadCpuLoad},
    {Event::kThreadCounter, "tarsier.ThreadCounter", "Thread Counter", "Tarsier", "What a thread has caused, counted",
     kThreadCounter},
    {Event::kMachineCpu, "tarsier.MachineCpu", "Machine CPU", "Tarsier",
     "What became of the time of all CPUs, and who suffered from what the hypervisor took", kMachineCpu},
    {Event::kGcPhasePause, "jdk.GCPhasePause", "GC Phase Pause", "Java Virtual Machine/GC/Phases",
     "The program stood still for a garbage collection", kGcPhasePause},
    {Event::kSafepoints, "tarsier.Safepoints", "Safepoints", "Tarsier",
     "How often and how long the program stood still since the last one, by the JVM's counters", kSafepoints},
    {Event::kThreadTime, "tarsier.ThreadTime", "Thread Time", "Tarsier",
     "Where the time of a thread went since the session began or it started", kThreadTime},
    {Event::kOverhead, "tarsier.Overhead", "Overhead", "Tarsier", "What the recording itself costs", kOverhead},
    {Event::kSavedJvm, "tarsier.SavedJvm", "Saved JVM", "Tarsier/Replay",
     "What tarsier-replay has to know of the JVM to decode the fragments that follow", kSavedJvm},
    {Event::kSavedMemory, "tarsier.SavedMemory", "Saved Memory", "Tarsier/Replay",
     "Memory of the JVM that the decoder has read, as it was for the fragments that follow", kSavedMemory},
    {Event::kSavedFragment, "tarsier.SavedFragment", "Saved Fragment", "Tarsier/Replay",
     "What was copied of an interrupted thread, and what it was decoded to", kSavedFragment},
}};

}  // namespace

std::span<const EventType> event_types() {
  return kTypes;
}

}  // namespace tarsier::recording
