#include "agent/engines/fragment_decoder.h"

#include <algorithm>

#include "agent/engines/wait_kind.h"
#include "base/clock.h"

namespace tarsier::agent {
namespace {

using hotspot::FrameKind;
using hotspot::WalkEnd;
using recording::FrameType;

FrameType type_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::kInterpreted:
      return FrameType::kInterpreted;
    case FrameKind::kC1:
      return FrameType::kC1;
    case FrameKind::kC2:
      return FrameType::kC2;
    case FrameKind::kInlined:
      return FrameType::kInlined;
    case FrameKind::kNative:
      return FrameType::kNative;
    case FrameKind::kStub:
      return FrameType::kStub;
    case FrameKind::kLibrary:
      return FrameType::kVm;
  }
  return FrameType::kJava;
}

constexpr size_t kThreadsRemembered = 256;  // more than ever run at the same time

// As the JVM's own strings are: surrogates one by one, which the writer puts together.
void append_char(std::string& out, char16_t c) {
  if (c != 0 && c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

std::string name_of(const hotspot::MethodInfo& method) {
  std::string name(method.class_name);
  std::replace(name.begin(), name.end(), '/', '.');
  return name + "." + method.name;
}

// The next record lies behind this one, if there is one. Its thread has written it, on another CPU as a rule, so every
// line of it has to come from there: those that a walk begins with are asked for while this one is decoded. (A wrong
// address does no harm.)
void ask_for_next(const hotspot::Fragment& fragment) {
  constexpr size_t kLine = 64, kBytes = 4 << 10;
  const uint8_t* next = fragment.name() + fragment.padded_name();
  for (size_t at = 0; at < kBytes; at += kLine) __builtin_prefetch(next + at);
}

// Samples, that is: what else is copied of a thread begins with its last Java frame.
bool is_sample(recording::Event event) {
  return event != recording::Event::kWait && event != recording::Event::kJavaMonitorEnter;
}
bool wants_native(const EngineContext& context, recording::Event event) {
  return context.options.native && is_sample(event);
}

// For the unwind tables of the application's libraries, and as much for names.
size_t most_native(const EngineContext& context) {
  return static_cast<size_t>(context.options.memory.count) / 8;
}

}  // namespace

FragmentDecoder::FragmentDecoder(EngineContext& context, recording::Event event)
    : context_(context),
      memory_(context.jvm.memory()),
      native_(wants_native(context, event) ? NativeCode(context.jvm.memory(), most_native(context)) : NativeCode()),
      events_(context, event),
      incremental_(context.options.walks != "whole"),
      last_of_(kThreadsRemembered) {
  if (context.options.walks == "both") comparison_ = std::make_unique<Comparison>();
  if (!wants_native(context, event)) return;
  native_names_ = std::make_unique<NativeNames>(context.jvm.memory(), most_native(context));
}

Result<std::unique_ptr<FragmentDecoder>> FragmentDecoder::make(EngineContext& context, recording::Event event) {
  if (!context.jvm.lib().structs()) return Error{Errc::kUnsupported, "this JVM exports no vmStructs"};
  const hotspot::VmStructs& structs = *context.jvm.lib().structs();
  const int major = context.jvm.major();
  std::unique_ptr<FragmentDecoder> decoder(new FragmentDecoder(context, event));
  const Memory& memory = decoder->memory_;
  decoder->epoch_ = hotspot::UnloadEpoch::find(memory, structs);
  decoder->redefinitions_ = Redefinitions::find();
  decoder->edge_check_ = hotspot::EdgeCheck::find(memory, structs);
  auto cache = hotspot::CodeCache::find(memory, structs);
  if (!cache) return std::move(cache).error();
  decoder->cache_ = std::make_unique<hotspot::CodeCache>(std::move(*cache));
  auto blobs = hotspot::CodeBlobs::find(memory, structs, *decoder->cache_, major);
  if (!blobs) return std::move(blobs).error();
  decoder->blobs_ = std::make_unique<hotspot::CodeBlobs>(std::move(*blobs));
  auto methods = hotspot::Methods::find(memory, structs, major);
  if (!methods) return std::move(methods).error();
  decoder->methods_ = std::make_unique<hotspot::Methods>(std::move(*methods));
  decoder->methods_->watch_epoch(
      [d = decoder.get()] { return d->now() + (d->redefinitions_.goes_on() ? uint64_t{1} : 0); });
  if (!decoder->redefinitions_.are_counted()) {
    decoder->methods_->on_redefinition([d = decoder.get()] { d->redefinitions_.saw_one(); });
  }
  auto walker = hotspot::StackWalker::find(memory, structs, *decoder->blobs_, *decoder->methods_,
                                           hotspot::Machine::host(), major, &decoder->native_);
  if (!walker) return std::move(walker).error();
  decoder->walker_ = std::make_unique<hotspot::StackWalker>(std::move(*walker));
  if (decoder->edge_check_) {
    decoder->walker_->set_call_check(
        [self = decoder.get()](const auto& callee, const auto& caller) { return self->check_edge(callee, caller); });
  }
  if (decoder->native_names_ != nullptr) decoder->walker_->show_native();
  if (context.options.save_fragments > 0 && is_sample(event)) {
    decoder->saver_ = std::make_unique<FragmentSaver>(context, memory, decoder->native_);
  }
  decoder->stub_names_ = StubNames::collect(context.jvm);
  return decoder;
}

void FragmentDecoder::begin() {
  trust_code();
  ++batch_;
  redefinitions_.begin(static_cast<uint64_t>(monotonic_now().count));
  if (native_names_ != nullptr && native_.forget_unloaded()) {
    native_names_->forget_libraries();
    forget_last();
  }
  const auto limit = static_cast<size_t>(context_.options.memory.count) / 8;
  if (blobs_->memory_used() > limit) blobs_->forget();
  if (methods_->memory_used() > limit) forget_methods();
}

void FragmentDecoder::trust_code() {
  // The first time the kernel has to be asked for it.
  const Address ends = cache_->sum_of_ends();
  if (ends == trusted_until_) return;
  TrustedMemory::Ranges ranges = cache_->stable_ranges();
  if (epoch_) {
    for (const Address counter : {epoch_->counter(), epoch_->shared_counter()})
      ranges.emplace_back(counter, counter + 8);
  }
  memory_.trust(std::move(ranges));
  trusted_until_ = ends;
}

FragmentDecoder::LastOf& FragmentDecoder::last_of(uint32_t thread) {
  LastOf& last = last_of_[thread % kThreadsRemembered];
  if (last.thread != thread) {
    last.thread = thread;
    last.bottom = {};
    last.own.clear();
    last.of_waker.clear();
    last.end_of_jvm = {};
    last.root.reset();
  }
  return last;
}

const FragmentDecoder::Marker* FragmentDecoder::root_of(LastOf& last) {
  if (native_names_ == nullptr) return nullptr;
  if (!last.root) {
    const auto thread = context_.threads.find(last.thread);
    const std::string_view kind = thread ? thread->kind_of_jvm : "";
    last.root = kind == "gc"    ? marker("[GC]")
                : kind == "jit" ? marker("[JIT]")
                : kind == "vm"  ? marker("[VM]")
                                : nullptr;
  }
  return *last.root;
}

void FragmentDecoder::forget_last() {
  for (LastOf& last : last_of_) last = {};
}

void FragmentDecoder::forget_methods() {
  std::unordered_set<const hotspot::MethodInfo*> needed;
  for (const auto& [thread, stack] : last_) {
    for (const Frame& frame : stack.frames) needed.insert(frame.method);
  }
  walker_->forget();
  forget_last();
  methods_->forget_except(needed);
  stacks_.clear();
  checked_calls_.assign(checked_calls_.size(), {});
  events_.forget_methods();
  // What is needed may be too much in itself.
  if (methods_->memory_used() > static_cast<size_t>(context_.options.memory.count) / 16) {
    last_.clear();
    methods_->forget_except({});
  }
}

void FragmentDecoder::start_over_if_forgotten() {
  if (!events_.start_over_if_forgotten()) return;
  stacks_.clear();
  ++method_ids_;
  for (LastOf& last : last_of_) {
    last.own.recorded.shorten(0);
    last.of_waker.recorded.shorten(0);
  }
}

std::optional<FragmentDecoder::Kept> FragmentDecoder::kept(uint32_t number) {
  start_over_if_forgotten();
  const auto it = last_.find(number);
  if (it == last_.end()) return std::nullopt;
  Stack& stack = it->second;
  if (stack.id_of != method_ids_) {
    nothing_known_.shorten(0);
    stack.id = stack_id({}, stack, nothing_known_);
    stack.id_of = method_ids_;
  }
  return Kept{stack.id, stack.failure};
}

void FragmentDecoder::keep(uint32_t number, const Stack& stack) {
  const auto it = last_.find(number);
  if (it != last_.end()) {
    it->second = stack;
  } else if (spare_.empty()) {
    last_.emplace(number, stack);
  } else {
    KeptStacks::node_type node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = number;
    node.mapped() = stack;
    last_.insert(std::move(node));
  }
}

void FragmentDecoder::forget_kept(uint32_t number) {
  constexpr size_t kMostSpare = 64;
  KeptStacks::node_type node = last_.extract(number);
  if (node && spare_.size() < kMostSpare) spare_.push_back(std::move(node));
}

recording::ThreadId FragmentDecoder::thread(uint32_t serial, int64_t virtual_id) {
  start_over_if_forgotten();
  if (serial != 0) context_.threads.mark_seen(serial);
  return virtual_id != 0 ? events_.virtual_thread(virtual_id) : events_.thread_of(serial);
}

int64_t FragmentDecoder::keep_waker(const capture::FragmentRecord& record, uint32_t woken) {
  decode(record, kOfWaker | woken, nullptr);
  return stack_.virtual_id;
}

void FragmentDecoder::decode(const capture::FragmentRecord& record, uint32_t number, const Waker* waker) {
  const bool may_be_repeated = record.kept || events_.event() == recording::Event::kWallSample;
  java_bottom_.reset();
  start_over_if_forgotten();
  if (record.repeated) {
    const auto last = last_.find(number);
    nothing_known_.shorten(0);
    if (last != last_.end()) return write(record, {}, last->second, nothing_known_, waker);
    stack_ = {};
    stack_.failure = "stack_not_kept";
    return write(record, {}, stack_, nothing_known_, waker);
  }
  if (record.time_ns >= moment_began_ns_) {
    // Code on a stack stays while the thread is interrupted, so what is there from now on was there then.
    moment_began_ns_ = static_cast<uint64_t>(monotonic_now().count);
    blobs_->set_moment(++moment_);
  }
  ask_for_next(record.fragment());
  learn_name(record.fragment());
  native_.set_time(record.time_ns);
  LastOf& known = last_of(record.thread);
  const bool is_waker = record.kept && (number & kOfWaker) != 0;
  LastStack& last = is_waker ? known.of_waker : known.own;
  const uint64_t wrong_before = edges_[static_cast<size_t>(hotspot::Edge::kWrong)];
  // Samples of a batch may be taken after its beginning.
  if (redefinitions_.goes_on() || !redefinitions_.is_old(held_until(record))) {
    redefinitions_.begin(static_cast<uint64_t>(monotonic_now().count));
  }
  methods_->set_epochs(now(), copied_at(record), epoch_ ? record.fragment().epoch_doubt() : 0);
  if (redefinitions_.now() > 0) methods_->set_redefined();
  // What is kept has no weight of its own.
  walker_->set_released(is_sample(events_.event()) || record.waits ? 0 : record.weight_ns);
  walked_.leaves_out_reused = !may_be_repeated && !record.waits && comparison_ == nullptr && saver_ == nullptr &&
                              native_names_ == nullptr && witness_ == nullptr;
  walk(record.fragment(), last, may_be_repeated, stack_);
  if (witness_ != nullptr) hear_witness(record);
  const Marker* root = root_of(known);
  was_of_jvm_ = root != nullptr;
  if (was_of_jvm_) {
    stack_.frames.push_back({nullptr, root, 0, FrameType::kMarker});
    // Some frames of the C library and of the JVM are below every one.
    constexpr size_t kFewest = 3;
    const bool all = walked_.complete() && walked_.frames.size() >= kFewest &&
                     walked_.frames.back().method != hotspot::kUnknownNative;
    java_bottom_ = known.end_of_jvm.saw(record.fragment(), record.time_ns, all ? walked_.highest : 0);
  } else {
    learn_bottom(record, known.bottom);
  }
  if (saver_ != nullptr && record.fragment().epoch_doubt() == 0)
    save(record, edges_[static_cast<size_t>(hotspot::Edge::kWrong)] != wrong_before);
  if (record.waits) {
    stack_.wait = wait_of(record);
    // It waits at a call, of which the debug info always tells.
    if (walked_.start == hotspot::WalkStart::kAnchor) stack_.imprecise = false;
  }
  // Of a stack that was cut off the outermost frames are not those of the thread, which stay known.
  nothing_known_.shorten(0);
  RecordedStack& recorded = walked_.end == WalkEnd::kTooShort ? nothing_known_ : last.recorded;
  if (is_waker) {
    // The wait that it has ended comes next, nearly always. Here the outer frames are at hand as they were recorded.
    stack_.id = stack_id({}, stack_, recorded);
    stack_.id_of = method_ids_;
  }
  if (may_be_repeated) keep(number, stack_);
  if (!record.kept) write(record, record.kernel(), stack_, recorded, waker);
}

std::string_view FragmentDecoder::wait_of(const capture::FragmentRecord& record) const {
  const auto is_java = [](const hotspot::WalkedFrame& frame) {
    return frame.kind != FrameKind::kStub && frame.kind != FrameKind::kLibrary;
  };
  std::array<const hotspot::MethodInfo*, kFramesOfKind> methods{};
  size_t count = 0;
  for (const hotspot::WalkedFrame& frame : walked_.frames) {
    if (count == methods.size()) break;
    if (is_java(frame)) methods[count++] = frame.info;
  }
  WaitState state;
  state.in_native = record.fragment().thread_state == hotspot::kThreadInNative;
  state.wants_monitor = record.blocked;
  state.uninterruptible = record.uninterruptible;
  state.page_fault = record.page_fault;
  return kind_of_wait(std::span(methods).first(count), state);
}

// Of a JVM that does not count unloaded classes every batch is an epoch of its own.
uint64_t FragmentDecoder::now() const {
  return redefinitions_.now() + (epoch_ ? epoch_->now(memory_) : batch_);
}
uint64_t FragmentDecoder::copied_at(const capture::FragmentRecord& record) const {
  return redefinitions_.at(held_until(record)) + (epoch_ ? record.fragment().epoch : batch_);
}
uint64_t FragmentDecoder::held_until(const capture::FragmentRecord& record) const {
  // What is on the stack of a thread that waits stays until the wait is over.
  const bool is_over = events_.event() == recording::Event::kWait && !record.kept;
  return record.time_ns + (is_over ? record.weight_ns : 0);
}

void FragmentDecoder::walk(const hotspot::Fragment& fragment, LastStack& last, bool whole, Stack& out) {
  const auto max_depth = static_cast<size_t>(context_.options.max_depth);
  walker_->walk(fragment, max_depth, walked_, incremental_ ? &last.stack : nullptr);
  ++ends_[static_cast<size_t>(walked_.end)];
  ++starts_[static_cast<size_t>(walked_.start)];
  out.start_over();
  out.deeper = walked_.end == WalkEnd::kTooDeep || walked_.end == WalkEnd::kTooShort;
  out.thawing = walked_.end == WalkEnd::kThawing;
  out.virtual_id = walked_.is_virtual ? fragment.virtual_id : 0;
  if (!walked_.complete() && !out.deeper && !out.thawing) out.failure = name_of(walked_.end);
  if (walked_.start == hotspot::WalkStart::kNativeLeaf && native_names_ == nullptr && is_sample(events_.event())) {
    out.frames.push_back({nullptr, marker(library_name(fragment.pc)), 0, FrameType::kVm});
  }
  out.whole = whole;
  if (walked_.end != WalkEnd::kTooShort) last.recorded.shorten(walked_.reused);
  const size_t known = whole || walked_.end == WalkEnd::kTooShort ? 0 : last.recorded.size();
  for (size_t i = 0; i + known < walked_.size(); ++i) out.frames.push_back(frame_of(walked_.at(i)));
  size_t first = 0;
  while (first < walked_.size() && walked_.at(first).kind == FrameKind::kLibrary) ++first;
  if (first < walked_.size()) {
    const hotspot::CodeBlob* code = walked_.at(first).blob;
    if (walked_.start != hotspot::WalkStart::kNativeLeaf) out.innermost = walked_.at(first).info;
    out.imprecise = code != nullptr && code->compile_id > 0 && code->compile_id <= context_.imprecise_until_compile_id;
  }
  if (walked_.reused > 0) {
    for (size_t i = 0; i < edges_.size(); ++i) edges_[i] += last.stack.edges(static_cast<hotspot::Edge>(i));
  }
  check_edges();
  if (native_names_ != nullptr) count_native();
  all_frames_ += walked_.size();
  reused_frames_ += walked_.reused;
  if (incremental_) last.stack.keep(walked_);
  if (comparison_) compare_with_whole(fragment);
}

void FragmentDecoder::compare_with_whole(const hotspot::Fragment& fragment) {
  walker_->walk(fragment, static_cast<size_t>(context_.options.max_depth), comparison_->whole);
  const auto is_same = [](const hotspot::WalkedFrame& one, const hotspot::WalkedFrame& other) {
    return one.kind == other.kind && one.called_by_vm == other.called_by_vm && one.bci == other.bci &&
           one.method == other.method && one.info == other.info;
  };
  const hotspot::WalkedStack& whole = comparison_->whole;
  const bool same =
      walked_.end == whole.end && walked_.start == whole.start && walked_.highest == whole.highest &&
      std::equal(walked_.frames.begin(), walked_.frames.end(), whole.frames.begin(), whole.frames.end(), is_same);
  ++comparison_->walks;
  comparison_->reused += walked_.reused > 0 ? 1 : 0;
  comparison_->different += same ? 0 : 1;
}

void FragmentDecoder::learn_bottom(const capture::FragmentRecord& record, SteadyBottom& bottom) {
  if (walked_.end == WalkEnd::kTooShort && !record.fragment().cut) {
    bottom.refute();
    java_bottom_ = 0;
  } else if (walked_.end == WalkEnd::kComplete && !walked_.is_virtual) {
    java_bottom_ = bottom.seen(walked_.highest, record.weight_ns);
  }
}

void FragmentDecoder::save(const capture::FragmentRecord& record, bool wrong) {
  saver_->consider(record, {walked_, wrong, copied_at(record), now()});
}

void FragmentDecoder::hear_witness(const capture::FragmentRecord& record) {
  capture::AgctWitness::Testimony testimony;
  if (!witness_->find(record.thread, record.time_ns, testimony)) return;
  agreement_.add(walked_, testimony, *methods_);
  witness_->forget();
}

void FragmentDecoder::learn_name(const hotspot::Fragment& fragment) {
  if (fragment.name_bytes == 0) return;
  std::string name;
  const uint8_t* bytes = fragment.name();
  if (fragment.name_is_utf16) {
    for (size_t i = 0; i + 1 < fragment.name_bytes; i += 2) {
      append_char(name, static_cast<char16_t>(bytes[i] | bytes[i + 1] << 8));
    }
  } else {
    for (size_t i = 0; i < fragment.name_bytes; ++i) append_char(name, bytes[i]);
  }
  events_.name_virtual(fragment.virtual_id, std::move(name));
}

void FragmentDecoder::check_edges() {
  for (size_t i = 0; i < walked_.new_frames() && i + 1 < walked_.size(); ++i) {
    hotspot::WalkedFrame& callee = walked_.frames[i];
    const hotspot::WalkedFrame& caller = walked_.at(i + 1);
    if (callee.kind == FrameKind::kLibrary || caller.kind == FrameKind::kLibrary) continue;  // no call by bytecodes
    if (edge_check_ && !callee.called_by_vm && callee.info != nullptr && caller.info != nullptr) {
      callee.call_of = check_edge(callee, caller);
    }
    ++edges_[static_cast<size_t>(callee.call_of)];
  }
}

hotspot::Edge FragmentDecoder::check_edge(const hotspot::WalkedFrame& callee, const hotspot::WalkedFrame& caller) {
  if (caller.checked_callee == callee.info) return caller.checked_edge;
  const auto number = [](const void* pointer) { return reinterpret_cast<uint64_t>(pointer); };
  const StackKey hash = extend({number(callee.info), number(caller.info)}, static_cast<uint64_t>(caller.bci), 0);
  CheckedCall& checked = checked_calls_[hash.low >> (64 - kLog2Calls)];
  if (checked.callee != callee.info || checked.caller != caller.info || checked.bci != caller.bci) {
    // The bytecodes that call go with their class.
    if (!methods_->is_loaded(*caller.info)) return hotspot::Edge::kUncheckable;
    const hotspot::Edge edge = edge_check_->check(*caller.info, caller.bci, *callee.info);
    if (methods_->epoch_has_passed()) return hotspot::Edge::kUncheckable;
    checked = {callee.info, caller.info, caller.bci, edge};
  }
  if (caller.kept != nullptr) {
    caller.kept->checked_callee = callee.info;
    caller.kept->checked_edge = checked.edge;
  }
  return checked.edge;
}

void FragmentDecoder::count_native() {
  const auto is_library = [](const auto& frame) { return frame.kind == FrameKind::kLibrary; };
  const auto is_unknown = [&](const auto& frame) {
    return is_library(frame) && frame.method == hotspot::kUnknownNative;
  };
  const auto& frames = walked_.frames;
  const auto java = std::find_if_not(frames.begin(), frames.end(), is_library);
  if (java != frames.begin()) {
    ++native_counts_.samples;
    const bool found = walked_.complete() || java != frames.end();
    if (found && std::none_of(frames.begin(), java, is_unknown)) ++native_counts_.complete;
  }
  if (std::none_of(java, frames.end(), is_library)) return;
  ++native_counts_.gaps;
  if (std::none_of(java, frames.end(), is_unknown)) ++native_counts_.gaps_filled;
}

FragmentDecoder::Frame FragmentDecoder::native_frame(Address pc) {
  if (pc == hotspot::kUnknownNative || native_.is_doubtful(pc))
    return {nullptr, marker("[native]"), 0, FrameType::kMarker};
  const NativeFunction& function = native_names_->at(pc);
  return {nullptr, nullptr, 0, function.of_jvm ? FrameType::kVm : FrameType::kNative, -1, 0, &function};
}

FragmentDecoder::Frame FragmentDecoder::frame_of(const hotspot::WalkedFrame& walked) {
  if (walked.kind == FrameKind::kLibrary) return native_frame(walked.method);
  if (walked.kind == FrameKind::kStub) return {nullptr, stub_marker(walked), 0, FrameType::kStub};
  if (walked.info == nullptr) return {nullptr, marker("[unloaded]"), 0, type_of(walked.kind)};
  uint64_t label = walked.label;
  if (!is_valid(label)) {
    label = label_of(*walked.info);
    if (walked.kept != nullptr) walked.kept->label = label;
  }
  return {walked.info, nullptr, walked.bci, type_of(walked.kind), walked.line, label};
}

const FragmentDecoder::Marker* FragmentDecoder::stub_marker(const hotspot::WalkedFrame& walked) {
  const std::string_view piece = stub_names_.at(walked.method);
  if (!piece.empty()) return marker(piece);
  return marker(walked.blob != nullptr ? std::string_view(walked.blob->name) : "[stub]");
}

const FragmentDecoder::Marker* FragmentDecoder::marker(std::string_view name) {
  const auto it = markers_.find(name);
  if (it != markers_.end()) return &it->second;
  return &markers_.emplace(name, Marker{std::string(name)}).first->second;
}

void FragmentDecoder::forget_ended_threads() {
  size_t remembered = 0;
  for (const LastOf& last : last_of_) {
    remembered += last.own.stack.memory_used() + last.of_waker.stack.memory_used();
  }
  if (remembered > static_cast<size_t>(context_.options.memory.count) / 8) forget_last();
  for (const uint32_t serial : ended_) last_.erase(serial);
  ended_.clear();
  if (last_.empty()) return;
  for (const JavaThread& thread : context_.threads.ended()) ended_.push_back(thread.serial);
}

void FragmentDecoder::write(const capture::SampleHeader& header, std::span<const uint64_t> kernel, const Stack& stack,
                            RecordedStack& known, const Waker* waker) {
  const recording::StackId id = stack_id(kernel, stack, known);
  events_.write(header, {id, stack.imprecise, stack.failure, stack.virtual_id, stack.wait, woken_by(header, waker)});
  if (stack.failure.empty() && stack.innermost != nullptr) events_.add_self(stack.innermost, header.weight_ns);
}

SampleEvents::Woken FragmentDecoder::woken_by(const capture::SampleHeader& header, const Waker* waker) {
  if (waker == nullptr) return {.by = name_of(header.ongoing ? WokenBy::kOngoing : WokenBy::kUnknown)};
  SampleEvents::Woken woken{.by = name_of(waker->by)};
  if (waker->by == WokenBy::kThread) {
    woken.waker = thread(waker->serial, waker->virtual_id);
  } else if (waker->by == WokenBy::kJvm) {
    woken.waker = context_.writer.thread({waker->name, waker->id, {}, 0, false});
  } else if (waker->by == WokenBy::kProcess) {
    woken.process = waker->name;
    woken.process_id = waker->id;
  }
  if (!waker->has_stack) return woken;
  const uint32_t number = kOfWaker | header.thread;
  if (const auto stack = kept(number)) woken.stack = stack->stack;
  forget_kept(number);
  return woken;
}

recording::StackId FragmentDecoder::stack_id(std::span<const uint64_t> kernel, const Stack& stack,
                                             RecordedStack& known) {
  StackKey key = known.keys.empty() ? StackKey{} : known.keys.back();
  for (size_t i = stack.frames.size() - (stack.whole ? known.size() : 0); i-- > 0;) {
    const recording::Frame record = recorded(stack.frames[i]);
    key = extend(key, record.method.value,
                 static_cast<uint64_t>(static_cast<uint32_t>(record.bci)) << 8 | static_cast<uint64_t>(record.type));
    known.keys.push_back(key);
    known.frames.push_back(record);
  }
  key = extend(key, (stack.deeper ? 1 : 0) + (stack.thawing ? 2 : 0),
               reinterpret_cast<uint64_t>(stack.failure.empty() ? nullptr : marker(stack.failure)));
  for (const uint64_t address : kernel) key = extend(key, address, kernel.size());
  recording::StackId& id = stacks_[key];
  if (id.value != 0) return id;

  const auto mark = [&](const std::string& name) {
    return recording::Frame{context_.methods.marker(name), 0, 0, FrameType::kMarker};
  };
  kernel_frames_.clear();
  for (const uint64_t address : kernel) {
    kernel_frames_.push_back(
        {context_.methods.marker(std::string(kernel_symbols_.find(address))), 0, 0, FrameType::kKernel});
  }
  // What could not be found lies below what was.
  outer_frames_.clear();
  if (known.keys.empty() && stack.failure.empty()) outer_frames_.push_back(mark("[no Java frame]"));
  if (!stack.failure.empty()) {
    outer_frames_.push_back(mark("[failed: " + stack.failure + "]"));
  } else if (stack.deeper) {
    outer_frames_.push_back(mark("[deeper]"));
  }
  while (known.encoded.size() < known.size()) context_.writer.add(known.encoded, known.frames[known.encoded.size()]);
  return id = context_.writer.stack(kernel_frames_, known.encoded, outer_frames_, stack.deeper || stack.thawing);
}

recording::Frame FragmentDecoder::recorded(const Frame& frame) {
  const int32_t line = frame.method == nullptr ? 0 : frame.line >= 0 ? frame.line : frame.method->line(frame.bci);
  return {method_id(frame), line, std::max(frame.bci, 0), frame.type};
}

recording::MethodId FragmentDecoder::method_id(const Frame& frame) {
  if (frame.function != nullptr) return recording::MethodId(static_cast<uint32_t>(label_of(*frame.function)));
  if (frame.method == nullptr) return recording::MethodId(static_cast<uint32_t>(label_of(*frame.marker)));
  return recording::MethodId(static_cast<uint32_t>(is_valid(frame.label) ? frame.label : label_of(*frame.method)));
}

uint64_t FragmentDecoder::label_of(const NativeFunction& function) {
  if (!is_valid(function.label)) {
    const auto id = context_.writer.method({function.library, function.name, "", 0});
    function.label = uint64_t{method_ids_} << 32 | id.value;
  }
  return function.label;
}

uint64_t FragmentDecoder::label_of(const Marker& marker) {
  if (!is_valid(marker.label)) marker.label = uint64_t{method_ids_} << 32 | context_.methods.marker(marker.name).value;
  return marker.label;
}

uint64_t FragmentDecoder::label_of(const hotspot::MethodInfo& method) {
  uint64_t& label = method.label.value;
  if (!is_valid(label)) {
    const auto id = context_.writer.method({method.class_name, method.name, method.signature, method.access});
    label = uint64_t{method_ids_} << 32 | id.value;
  }
  return label;
}

std::pair<std::string, double> FragmentDecoder::hottest() const {
  const auto [method, share] = events_.hottest();
  if (method == nullptr) return {};
  return {name_of(*static_cast<const hotspot::MethodInfo*>(method)), share};
}

}  // namespace tarsier::agent
