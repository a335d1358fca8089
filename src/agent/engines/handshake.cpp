#include "agent/engines/handshake.h"

#include "agent/engines/handshake_asker.h"
#include "agent/engines/jvmti_engine.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

constexpr int kFirstMajor = 16;

class HandshakeEngine final : public JvmtiEngine {
 public:
  explicit HandshakeEngine(EngineContext& context) : JvmtiEngine(context) {}

  std::string_view name() const override { return "handshake"; }
  Result<control::EngineReport> probe() override;

 private:
  std::unique_ptr<StackAsker> make_asker(JvmtiSamples& samples, const ThreadPattern& wanted) override {
    return std::make_unique<HandshakeAsker>(context_, interval(), static_cast<size_t>(linux::usable_cpus()), samples,
                                            wanted);
  }
};

Result<control::EngineReport> HandshakeEngine::probe() {
  if (context_.jvm.major() < kFirstMajor) {
    return Error{Errc::kUnsupported,
                 "a JVM of version " + std::to_string(context_.jvm.major()) +
                     " stops all threads when JVMTI is asked for the stack of one (those from 16 on "
                     "don't): use --engine fragment, which stops nobody"};
  }
  if (Status status = check_options(); !status) return std::move(status).error();
  return control::EngineReport{std::string(name()),
                               "GetStackTrace",
                               "asked for; at each tick up to " + std::to_string(linux::usable_cpus()) +
                                   " threads that have run are asked for their stacks, and nobody else is stopped",
                               interval(),
                               {}};
}

}  // namespace

std::unique_ptr<Engine> make_handshake_engine(EngineContext& context) {
  return std::make_unique<HandshakeEngine>(context);
}

}  // namespace tarsier::agent
