#include "agent/borrowed_kernel.h"

#include <cstring>
#include <utility>

#include "linux/kernel_loan.h"
#include "linux/turn_loan.h"
#include "linux/wait_loan.h"

namespace tarsier::agent {
namespace {

using linux::bpf::JavaLayout;

std::vector<uint64_t> words_of(const JavaLayout& layout) {
  static_assert(sizeof(layout) % sizeof(uint64_t) == 0);
  std::vector<uint64_t> words(sizeof(layout) / sizeof(uint64_t));
  std::memcpy(words.data(), &layout, sizeof(layout));
  return words;
}

// The answer and what came along with it.
template <class Lent>
Result<std::pair<Lent, std::vector<unique_fd>>> ask(control::Channel* command, const control::Message& wanted) {
  constexpr Nanos kPatience = seconds(20);
  if (command == nullptr) return Error{Errc::kNotPermitted, "there is no command that could"};
  if (Status sent = command->send(wanted, kPatience); !sent) return std::move(sent).error();
  auto received = command->receive(kPatience);
  if (!received) return std::move(received).error();
  auto* lent = *received ? std::get_if<Lent>(&(*received)->message) : nullptr;
  if (lent == nullptr) return Error{Errc::kFailed, "the command does not answer"};
  if (!lent->refusal.empty()) return Error{Errc::kNotPermitted, "the command can't either: " + lent->refusal};
  return std::pair(std::move(*lent), std::move((*received)->descriptors));
}

}  // namespace

Result<linux::KernelParts> borrow_kernel_parts(control::Channel* command, const JavaLayout& layout, size_t ring_bytes) {
  const control::KernelWanted wanted{words_of(layout), Bytes(static_cast<int64_t>(ring_bytes))};
  auto answer = ask<control::KernelLent>(command, wanted);
  if (!answer) return std::move(answer).error();
  auto& [lent, descriptors] = *answer;
  auto parts = linux::borrow_kernel_parts(std::move(descriptors));
  if (!parts) return parts;
  parts->scratch_bytes = static_cast<size_t>(lent.scratch.count);
  parts->sees_kernel = lent.sees_kernel;
  parts->hides_kernel = lent.hides_kernel;
  return parts;
}

Result<linux::WaitParts> borrow_wait_parts(control::Channel* command, const JavaLayout& layout,
                                           const linux::WaitMemory& memory) {
  const control::WaitsWanted wanted{words_of(layout), Bytes(static_cast<int64_t>(memory.ring)),
                                    Bytes(static_cast<int64_t>(memory.copies))};
  auto answer = ask<control::WaitsLent>(command, wanted);
  if (!answer) return std::move(answer).error();
  auto& [lent, descriptors] = *answer;
  auto parts = linux::borrow_wait_parts(std::move(descriptors));
  if (!parts) return parts;
  parts->map_bytes = static_cast<size_t>(lent.maps.count);
  return parts;
}

Result<linux::TurnParts> borrow_turn_parts(control::Channel* command) {
  auto answer = ask<control::TurnsLent>(command, control::TurnsWanted());
  if (!answer) return std::move(answer).error();
  return linux::borrow_turn_parts(std::move(answer->second));
}

}  // namespace tarsier::agent
