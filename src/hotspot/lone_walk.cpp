#include "hotspot/lone_walk.h"

#include "hotspot/code_blob.h"
#include "hotspot/code_cache.h"
#include "hotspot/edge_check.h"
#include "hotspot/methods.h"
#include "hotspot/stack_text.h"
#include "hotspot/stack_walker.h"

namespace tarsier::hotspot {

Result<LoneResult> walk_alone(const Memory& memory, const JvmKind& jvm, const NativeFrames& native,
                              const LoneWalk& walk) {
  auto cache = CodeCache::find(memory, jvm.structs);
  if (!cache) return std::move(cache).error();
  auto blobs = CodeBlobs::find(memory, jvm.structs, *cache, jvm.release);
  if (!blobs) return std::move(blobs).error();
  auto methods = Methods::find(memory, jvm.structs, jvm.release);
  if (!methods) return std::move(methods).error();
  methods->set_epochs(walk.decoded_in, walk.epoch);
  auto walker = StackWalker::find(memory, jvm.structs, *blobs, *methods, jvm.machine, jvm.release, &native);
  if (!walker) return std::move(walker).error();
  const auto edges = EdgeCheck::find(memory, jvm.structs);
  if (edges) {
    walker->set_call_check([&](const WalkedFrame& callee, const WalkedFrame& caller) {
      return edges->check(*caller.info, caller.bci, *callee.info);
    });
  }
  WalkedStack stack;
  walker->walk(walk.fragment, walk.max_depth, stack);
  return LoneResult{text_of(stack), code_text(stack), calls_text(stack, edges)};
}

}  // namespace tarsier::hotspot
