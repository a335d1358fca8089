#include "agent/session.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>

#include "agent/borrowed_kernel.h"
#include "agent/callbacks.h"
#include "agent/engines/registry.h"
#include "agent/process_claim.h"
#include "agent/session_slot.h"
#include "base/clock.h"
#include "base/parse.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

constexpr Nanos kFlushEvery = seconds(1);
constexpr Nanos kPatience = seconds(10);     // with the command, and of the starting JVM with us
constexpr Nanos kExitPatience = seconds(5);  // of the exiting JVM with us: a dead disk must not keep it

constexpr jvmtiEvent kSessionEvents[] = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_VM_DEATH};

std::string expand(std::string pattern) {
  const auto replace = [&](const char* key, const std::string& value) {
    for (size_t at = 0; (at = pattern.find(key, at)) != std::string::npos; at += value.size()) {
      pattern.replace(at, 2, value);
    }
  };
  char now[32];
  const time_t seconds_now = ::time(nullptr);
  tm local{};
  ::localtime_r(&seconds_now, &local);
  std::strftime(now, sizeof(now), "%Y%m%d-%H%M%S", &local);
  replace("%p", std::to_string(::getpid()));
  replace("%t", now);
  return pattern;
}

}  // namespace

Session::Session(JavaVM* vm, control::AgentString options, std::unique_ptr<PreciseDebugInfo> debug_info)
    : vm_(vm),
      options_(std::move(options)),
      attached_(debug_info == nullptr),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      debug_info_(std::move(debug_info)) {}

Session::~Session() = default;

void Session::on_thread_start(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  threads_->on_start(jvmti, jni, thread);
}
void Session::on_thread_end(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  threads_->on_end(jvmti, jni, thread);
}
void Session::on_class_prepare(jvmtiEnv* jvmti, jclass klass) {
  for (auto& engine : engines_) engine->on_class_prepare(jvmti, klass);
}

void Session::on_sampled_object(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass, jlong size) {
  for (auto& engine : engines_) engine->on_sampled_object(jvmti, jni, klass, size);
}

void Session::on_monitor_enter(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) {
  for (auto& engine : engines_) engine->on_monitor_enter(jvmti, jni, object);
}

void Session::on_monitor_entered(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) {
  for (auto& engine : engines_) engine->on_monitor_entered(jvmti, jni, object);
}

void Session::on_class_file(const ClassFile& file) {
  for (auto& engine : engines_) engine->on_class_file(file);
}

void Session::on_monitor_wait(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) {
  for (auto& engine : engines_) engine->on_monitor_wait(jvmti, jni, object);
}

void Session::on_collection_start() {
  pauses_->on_collection_start();
}

void Session::on_collection_finish() {
  pauses_->on_collection_finish();
}

void Session::reached(bool Session::*milestone) {
  const std::lock_guard guard(milestone_lock_);
  this->*milestone = true;
  milestone_reached_.notify_all();
}

// With an end to patience: whoever waits here is a thread of the application.
bool Session::wait_for(bool Session::*milestone, Nanos patience) {
  std::unique_lock guard(milestone_lock_);
  return milestone_reached_.wait_for(guard, std::chrono::nanoseconds(patience.count), [&] { return this->*milestone; });
}

void Session::wait_until_started() {
  (void)wait_for(&Session::started_, kPatience);
}

bool Session::on_vm_death() {
  vm_dies_.store(true);
  const uint64_t one = 1;
  // If it can't be written, the loop looks at the flag every 20 ms anyway.
  (void)!::write(wake_.get(), &one, sizeof(one));
  return wait_for(&Session::done_, kExitPatience);
}

void Session::silence() {
  for (auto& engine : engines_) engine->silence();
}

void Session::run() {
  JavaVMAttachArgs args{JNI_VERSION_1_6, const_cast<char*>("tarsier"), nullptr};
  if (vm_->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jni_), &args) != JNI_OK) {
    fail(Error{Errc::kFailed, "the JVM does not let our thread in"});
  } else {
    try {
      record();
    } catch (const std::bad_alloc&) {
      give_up("the JVM's process has no memory left for what recording needs");
    } catch (const std::exception& e) {
      give_up(e.what());
    }
  }
  reached(&Session::started_);
  reached(&Session::done_);
  if (jni_ != nullptr) vm_->DetachCurrentThread();
}

// The application goes on, whatever is missing. There may still be no memory for anything: what was not decoded by now
// is lost, and the recording says that it is not complete.
void Session::give_up(const char* why) {
  for (auto& engine : engines_) {
    try {
      engine->silence();
    } catch (const std::exception&) {  // then stop() does it
    }
  }
  for (auto& engine : engines_) {
    try {
      engine->stop();
    } catch (const std::exception&) {
    }
  }
  try {
    fail(Error{Errc::kFailed, why});
  } catch (const std::exception&) {
    let_go();
  }
}

void Session::record() {
  if (Status status = prepare(); !status) return fail(status.error());
  if (Status status = start(); !status) return fail(status.error());
  reached(&Session::started_);
  loop();
  finish();
}

// In the order in which things stand on each other; callbacks first, since they come from any thread at any time.
void Session::let_go() {
  detach_callbacks();
  engines_.clear();
  pauses_.reset();
  cpu_.reset();
  lives_.reset();
  context_.reset();
  methods_.reset();
  threads_.reset();
  debug_info_.reset();
  jvm_.reset();
  writer_.reset();
  ::pthread_setname_np(::pthread_self(), "tarsier-ends");  // `doctor` knows by the name whether a recording runs
  vacate_slot(this);
}

void Session::fail(const Error& error) {
  let_go();
  if (channel_) {
    if (channel_->send(control::Failed{error.code, error.what}, seconds(1))) return;
  }
  std::fprintf(stderr, "tarsier: %s; the application runs on without being recorded\n", error.what.c_str());
}

Status Session::prepare() {
  auto jvm = Jvm::enter(vm_, jni_);
  if (!jvm) return std::move(jvm).error();
  jvm_ = std::move(*jvm);
  return options_.connect.empty() ? open_own_file() : connect();
}

Status Session::open_own_file() {
  file_name_ = expand(options_.file.empty() ? "tarsier-%p.jfr" : options_.file);
  file_.reset(::open(file_name_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_) return errno_error("opening '" + file_name_ + "' for the recording", errno);
  return {};
}

Status Session::connect() {
  auto socket = control::connect_to(options_.connect, kPatience);
  if (!socket) return std::move(socket).error();
  // Whoever can load us into this JVM is its owner or root; the other end must be one of them too.
  auto peer = control::peer_credentials(socket->get());
  if (!peer) return std::move(peer).error();
  if (peer->uid != 0 && peer->uid != ::geteuid()) {
    return Error{Errc::kNotPermitted, "the control socket belongs to user " + std::to_string(peer->uid)};
  }
  process_claim().recorder_pid.store(peer->pid);
  channel_.emplace(std::move(*socket));
  if (Status sent = channel_->send(control::Hello{TARSIER_VERSION, jvm_->version(), ::getpid()}, kPatience); !sent) {
    return sent;
  }
  auto received = channel_->receive(kPatience);
  if (!received) return std::move(received).error();
  if (!*received) return Error{Errc::kFailed, "the command did not say what to record"};
  auto* start = std::get_if<control::Start>(&(*received)->message);
  if (start == nullptr || (*received)->descriptors.empty()) {
    return Error{Errc::kFailed, "the command sent no start with a file"};
  }
  options_.session = start->options;
  file_name_ = start->file_name;
  most_on_disk_ = start->most_on_disk;
  file_ = std::move((*received)->descriptors.front());
  return {};
}

Status Session::start() {
  recording::Writer::Options writing;
  writing.chunk_size = options_.session.chunk_size;
  writing.chunk_age = options_.session.chunk_age;
  writing.memory = options_.session.memory / 2;
  writing.most_on_disk = most_on_disk_;
  auto writer = recording::Writer::open(std::move(file_), std::move(writing));
  if (!writer) return std::move(writer).error();
  writer_ = std::move(*writer);

  threads_ = std::make_unique<ThreadRegistry>(*jvm_);
  if (Status status = threads_->prepare(); !status) return status;
  threads_->exclude(::gettid());
  if (Status status = install_callbacks(jvm_->jvmti()); !status) return status;
  methods_ = std::make_unique<MethodNames>(*jvm_, *writer_);
  context_.emplace(EngineContext{*jvm_, *threads_, *methods_, *writer_, options_.session,
                                 [this] {
                                   if (must_flush_early()) flush();
                                 },
                                 0,
                                 [this](const linux::bpf::JavaLayout& layout, size_t ring_bytes) {
                                   return borrow_kernel_parts(channel_ ? &*channel_ : nullptr, layout, ring_bytes);
                                 },
                                 [this](const linux::bpf::JavaLayout& layout, const linux::WaitMemory& memory) {
                                   return borrow_wait_parts(channel_ ? &*channel_ : nullptr, layout, memory);
                                 }});
  if (Status status = probe_engines(); !status) return status;

  // The JVM's compilers pay for it.
  if (!samples_anywhere()) {
    debug_info_.reset();
  } else if (debug_info_ == nullptr) {
    debug_info_ = std::make_unique<PreciseDebugInfo>(jvm_->lib(), PreciseDebugInfo::When::kRunning);
  }
  if (debug_info_ != nullptr) context_->imprecise_until_compile_id = debug_info_->imprecise_until_compile_id();
  started_at_ = monotonic_now();
  if (options_.session.duration.count > 0) ends_at_ = started_at_ + options_.session.duration;
  process_claim().ends_at.store(ends_at_.count);
  process_claim().state.store(ProcessClaim::kRecording);
  next_flush_ = started_at_ + kFlushEvery;
  write_session_events();
  const std::string& procfs = options_.session.procfs;
  cpu_ = std::make_unique<CpuAccount>(*threads_, *writer_, procfs.empty() ? "/proc" : procfs);
  if (options_.session.steal_by == "schedule") follow_turns();
  cpu_->update();
  lives_ = std::make_unique<ThreadLives>(*threads_, *writer_);
  pauses_ = std::make_unique<JvmPauses>(*jvm_, *writer_);

  attach_callbacks(*this);
  for (const jvmtiEvent event : kSessionEvents) {
    if (jvm_->jvmti()->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE) {
      return Error{Errc::kFailed, "the JVM does not tell about its threads"};
    }
  }
  if (Status status = start_engines(); !status) return status;
  write_engine_used(pauses_->start());
  if (Status flushed = writer_->flush(); !flushed) {
    for (auto& started : engines_) started->stop();
    return flushed;
  }
  if (!channel_) return {};
  control::Started message;
  message.engines = reports_;
  message.warnings = warned_ = warnings();
  if (jvm_->major() >= 21) {
    message.warnings.emplace_back(
        "from now on this JVM keeps track of virtual threads for tools (JVMTI), until it ends: mounting one costs a "
        "little more");
  }
  (void)channel_->send(message, kPatience);  // if it has hung up, the loop notices
  return {};
}

Status Session::probe_engines() {
  auto engines = make_engines(*context_);
  if (!engines) return std::move(engines).error();
  engines_ = std::move(*engines);
  for (auto& engine : engines_) {
    auto& report = reports_.emplace_back();
    auto probed = engine->probe();
    std::string instead;
    while (!probed) {
      auto next = make_next_best(*context_, *engine);
      if (next == nullptr) break;
      instead += "; not " + std::string(engine->name()) + ": " + probed.error().what;
      engine = std::move(next);
      probed = engine->probe();
    }
    if (probed) {
      report = std::move(*probed);
      report.why += instead;
    } else if (Status status = go_on_without(*engine, report, probed.error()); !status) {
      return status;
    }
  }
  return {};
}

void Session::follow_turns() {
  auto turns = TurnsReader::make();
  if (!turns) {
    const std::string why = turns.error().what;
    auto parts = borrow_turn_parts(channel_ ? &*channel_ : nullptr);
    turns = parts ? TurnsReader::of(std::move(*parts)) : Result<TurnsReader>(std::move(parts).error().in(why));
  }
  if (!turns) no_turns_ = turns.error().what;
  cpu_->follow(std::move(turns));
}

bool Session::samples_anywhere() const {
  return std::any_of(engines_.begin(), engines_.end(), [](const auto& engine) { return engine->samples_anywhere(); });
}

Status Session::start_engines() {
  for (size_t i = 0; i < engines_.size(); ++i) {
    if (!reports_[i].runs) continue;
    const Status started = engines_[i]->start();
    if (started) continue;
    engines_[i]->stop();
    if (Status status = go_on_without(*engines_[i], reports_[i], started.error()); !status) {
      for (auto& engine : engines_) engine->stop();
      return status;
    }
    write_engine_used(reports_[i]);
  }
  return {};
}

Status Session::go_on_without(const Engine& engine, control::EngineReport& report, const Error& error) const {
  // Who asks for what does not exist shall hear of it.
  if (!engine.dispensable() || engines_.size() == 1 || error.code == Errc::kUsage) return error;
  report = {std::string(engine.name()), "none", error.what, {}, {}, false};
  return {};
}

void Session::write_engine_used(const control::EngineReport& report) {
  const recording::Value used[] = {std::string_view(report.name), std::string_view(report.mechanism),
                                   std::string_view(report.why), report.interval.count, report.interval_bytes.count};
  writer_->sticky_event(recording::Event::kEngineUsed, report.name, monotonic_now(), used);
}

std::vector<std::string> Session::warnings() {
  std::vector<std::string> all;
  for (const control::EngineReport& report : reports_) {
    if (!report.runs) all.push_back("no " + report.name + ": " + report.why);
  }
  for (auto& engine : engines_) {
    for (std::string& warning : engine->warnings()) all.push_back(std::move(warning));
  }
  if (!no_turns_.empty()) all.push_back("stolen time is split by CPU time alone: " + no_turns_);
  if (debug_info_ != nullptr && !debug_info_->warning().empty()) all.push_back(debug_info_->warning());
  return all;
}

void Session::write_session_events() {
  const Nanos now = monotonic_now();
  const std::string version = jvm_->version();
  const std::string name = jvm_->property("java.vm.name");
  const std::string command = jvm_->property("sun.java.command");
  const std::string options = control::to_agent_string(options_.session);
  const Nanos age = linux::process_age();
  const int64_t started_ms = (wall_now() - age).count / 1'000'000;
  const recording::Value session[] = {std::string_view(TARSIER_VERSION), std::string_view(version),
                                      static_cast<int64_t>(::getpid()),  static_cast<int64_t>(linux::usable_cpus()),
                                      static_cast<int64_t>(attached_),   age.count,
                                      std::string_view(options)};
  writer_->sticky_event(recording::Event::kSession, "", now, session);
  const recording::Value jvm[] = {std::string_view(name),
                                  std::string_view(version),
                                  std::string_view(),
                                  std::string_view(),
                                  std::string_view(command),
                                  started_ms,
                                  static_cast<int64_t>(::getpid())};
  writer_->sticky_event(recording::Event::kJvmInformation, "", now, jvm);
  for (const control::EngineReport& report : reports_) write_engine_used(report);
}

bool Session::should_stop() {
  if (vm_dies_.load() || !disk_error_.empty()) return true;
  if (ends_at_.count != 0 && monotonic_now() >= ends_at_) return true;
  if (!channel_) return false;
  auto received = channel_->receive(Nanos(0));
  if (!received) return true;  // hung up, or talks nonsense: save what we have
  return *received && std::holds_alternative<control::Stop>((*received)->message);
}

void Session::loop() {
  bool more = false;
  while (!should_stop()) {
    Nanos patience = options_.session.account;
    for (const auto& engine : engines_) patience = std::min(patience, engine->patience());
    pollfd waiting[2] = {{wake_.get(), POLLIN, 0}, {channel_ ? channel_->fd() : -1, POLLIN, 0}};
    ::poll(waiting, 2, more ? 0 : static_cast<int>(patience.count / 1'000'000));
    more = false;
    for (auto& engine : engines_) more = engine->drain() || more;
    pauses_->drain();
    if (monotonic_now() < next_flush_ && !must_flush_early()) {
      if (options_.session.account < kFlushEvery) cpu_->look(options_.session.account);
      continue;
    }
    housekeeping(false);
    next_flush_ = monotonic_now() + kFlushEvery;
  }
}

// Names may be 60,000 characters long, a new one in every sample: the writer's bound holds only where it may flush.
bool Session::must_flush_early() const {
  const Bytes used = writer_->memory_used();
  // Something worth it since the last time; not twice as much as was left then, since tables grow by doubling.
  return used > options_.session.memory / 2 && used - memory_after_flush_ > options_.session.memory / 4;
}

void Session::housekeeping(bool last) {
  threads_->settle_ended();
  for (auto& engine : engines_) engine->settle();
  for (const JavaThread& thread : threads_->refresh_names()) writer_->thread(thread.info());
  lives_->update();
  last ? cpu_->finish() : cpu_->update();
  pauses_->update();
  write_stats();
  threads_->forget_ended();
  flush();
}

void Session::flush() {
  if (Status flushed = writer_->flush(); !flushed && disk_error_.empty()) disk_error_ = flushed.error().what;
  memory_after_flush_ = writer_->memory_used();
}

void Session::write_stats_of(std::string_view engine, const EngineStats& stats, Nanos now) {
  const recording::Value samples[] = {engine, static_cast<int64_t>(stats.taken), static_cast<int64_t>(stats.written),
                                      static_cast<int64_t>(stats.failed)};
  writer_->event(recording::Event::kEngineSamples, now, samples);
  for (const auto& [cause, count] : stats.dropped) {
    const recording::Value dropped[] = {engine, std::string_view(cause), static_cast<int64_t>(count)};
    writer_->event(recording::Event::kEngineDropped, now, dropped);
  }
  for (const auto& [counter, value] : stats.counters) {
    const recording::Value values[] = {engine, std::string_view(counter), value};
    writer_->event(recording::Event::kEngineCounter, now, values);
  }
}

void Session::write_stats() {
  const Nanos now = monotonic_now();
  control::Progress progress;
  int64_t memory = writer_->memory_used().count;
  for (size_t i = 0; i < engines_.size(); ++i) {
    const EngineStats stats = engines_[i]->stats();
    write_stats_of(reports_[i].name, stats, now);
    progress.taken += stats.taken;
    progress.written += stats.written;
    progress.failed += stats.failed;
    progress.dropped += stats.dropped_in_all();
    progress.overhead_app += stats.in_app_threads;
    memory += stats.memory.count;
    if (stats.hottest_share > progress.hottest_share) {
      progress.hottest = stats.hottest;
      progress.hottest_share = stats.hottest_share;
    }
  }
  const EngineStats pauses = pauses_->stats();  // no samples: not part of the progress
  write_stats_of("pauses", pauses, now);
  memory += pauses.memory.count;
  progress.elapsed = now - started_at_;
  progress.overhead_background = cpu_->own_cpu();
  progress.file_size = writer_->bytes_written();
  const recording::Value overhead[] = {progress.overhead_app.count, progress.overhead_background.count, memory};
  writer_->event(recording::Event::kOverhead, now, overhead);
  if (channel_) (void)channel_->send(progress, Nanos(0));  // a command that does not read must not hold us up
}

std::string Session::what_is_missing() {
  std::string missing;
  for (auto& engine : engines_) {
    if (std::string text = engine->missing(); !text.empty()) missing += (missing.empty() ? "" : "; ") + text;
  }
  if (const uint64_t unread = writer_->unread_events(); unread > 0) {
    missing += (missing.empty() ? "" : "; ") + std::to_string(unread) + " events were not written, since the command " +
               "did not read them (was it stopped?)";
  }
  if (disk_error_.empty() && writer_->lost_events() == 0) return missing;
  return missing + (missing.empty() ? "" : "; ") + std::to_string(writer_->lost_events()) + " events are not in '" +
         file_name_ + "': " + disk_error_;
}

void Session::finish() {
  control::Finished message;
  for (std::string& warning : warnings()) {  // those that are new since the start
    if (std::find(warned_.begin(), warned_.end(), warning) == warned_.end())
      message.warnings.push_back(std::move(warning));
  }
  for (auto& engine : engines_) engine->stop();
  pauses_->stop();
  housekeeping(true);
  for (auto& engine : engines_) {
    const EngineStats stats = engine->stats();
    message.taken += stats.taken;
    message.written += stats.written;
    for (const auto& [cause, count] : stats.dropped) {
      if (count > 0) message.dropped[cause] += count;
    }
  }
  if (Status finished = writer_->finish(); !finished && disk_error_.empty()) disk_error_ = finished.error().what;
  message.file_size = writer_->bytes_written();
  message.missing = what_is_missing();
  message.complete = message.missing.empty();

  let_go();  // before the word is out: the next recording may come at once
  if (channel_) {
    (void)channel_->send(message, seconds(1));
  } else if (!message.complete) {
    std::fprintf(stderr, "tarsier: %s\n", message.missing.c_str());
  }
}

}  // namespace tarsier::agent
