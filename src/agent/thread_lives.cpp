#include "agent/thread_lives.h"

namespace tarsier::agent {

void ThreadLives::update() {
  for (const JavaThread& thread : threads_.take_started()) {
    const recording::ThreadId id = writer_.thread(thread.info());
    const recording::Value values[] = {id, recording::StackId(), id, recording::ThreadId()};
    writer_.event(recording::Event::kThreadStart, thread.started, values);
  }
  for (const JavaThread& thread : threads_.ended()) {
    if (thread.ended_at.count == 0) continue;  // went without a word
    const recording::ThreadId id = writer_.thread(thread.info());
    const recording::Value values[] = {id, id};
    writer_.event(recording::Event::kThreadEnd, thread.ended_at, values);
  }
}

}  // namespace tarsier::agent
