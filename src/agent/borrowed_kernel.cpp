#include "agent/borrowed_kernel.h"

#include <cstring>

#include "linux/kernel_loan.h"

namespace tarsier::agent {

Result<linux::KernelParts> borrow_kernel_parts(control::Channel* command, const linux::bpf::JavaLayout& layout,
                                               size_t ring_bytes) {
  constexpr Nanos kPatience = seconds(20);
  if (command == nullptr) return Error{Errc::kNotPermitted, "there is no command that could"};
  control::KernelWanted wanted{std::vector<uint64_t>(sizeof(layout) / sizeof(uint64_t)),
                               Bytes(static_cast<int64_t>(ring_bytes))};
  static_assert(sizeof(layout) % sizeof(uint64_t) == 0);
  std::memcpy(wanted.layout.data(), &layout, sizeof(layout));
  if (Status sent = command->send(wanted, kPatience); !sent) return std::move(sent).error();
  auto received = command->receive(kPatience);
  if (!received) return std::move(received).error();
  const auto* lent = *received ? std::get_if<control::KernelLent>(&(*received)->message) : nullptr;
  if (lent == nullptr) return Error{Errc::kFailed, "the command does not answer"};
  if (!lent->refusal.empty()) return Error{Errc::kNotPermitted, "the command can't either: " + lent->refusal};
  auto parts = linux::borrow_kernel_parts(std::move((*received)->descriptors));
  if (!parts) return parts;
  parts->scratch_bytes = static_cast<size_t>(lent->scratch.count);
  parts->sees_kernel = lent->sees_kernel;
  parts->hides_kernel = lent->hides_kernel;
  return parts;
}

}  // namespace tarsier::agent
