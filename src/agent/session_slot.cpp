#include "agent/session_slot.h"

#include <mutex>

#include "agent/process_claim.h"
#include "agent/session.h"

namespace tarsier::agent {
namespace {

std::mutex g_lock;
// Never destroyed: threads of the application may still come through here while the process exits.
std::shared_ptr<Session>& slot() {
  static auto* slot = new std::shared_ptr<Session>();
  return *slot;
}

}  // namespace

bool occupy_slot(const std::shared_ptr<Session>& session, std::shared_ptr<Session>* holder) {
  const std::lock_guard guard(g_lock);
  *holder = slot();
  if (*holder != nullptr || !process_claim().take()) return false;
  slot() = session;
  return true;
}

void vacate_slot(const Session* session) {
  std::shared_ptr<Session> last;  // destroyed outside the lock
  const std::lock_guard guard(g_lock);
  if (slot().get() != session) return;
  last.swap(slot());
  process_claim().give_back();
}

std::shared_ptr<Session> session_in_slot() {
  const std::lock_guard guard(g_lock);
  return slot();
}

}  // namespace tarsier::agent
