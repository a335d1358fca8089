// The one session pointer of the process: who holds it records, everybody else is told so.
#pragma once

#include <memory>

namespace tarsier::agent {

class Session;

// False if another session runs; then `*holder` is that one, or null if it is another copy's of this library.
bool occupy_slot(const std::shared_ptr<Session>& session, std::shared_ptr<Session>* holder);
void vacate_slot(const Session* session);
std::shared_ptr<Session> session_in_slot();

}  // namespace tarsier::agent
