#include "agent/process_claim.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace tarsier::agent {
namespace {

TEST(ProcessClaim, can_be_found_by_another_copy_of_the_library) {
  const ProcessClaim& claim = process_claim();
  std::ostringstream address;
  address << std::hex << reinterpret_cast<uint64_t>(&claim) << '-';
  std::ifstream maps("/proc/self/maps");
  int named = 0;
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/memfd:tarsier-claim-1") == std::string::npos) continue;
    ++named;
    here = here || line.find(address.str()) == 0;
  }
  EXPECT_EQ(named, 1);
  EXPECT_TRUE(here);
}

TEST(ProcessClaim, is_taken_by_one_at_a_time_and_not_by_a_forked_child) {
  ProcessClaim& claim = process_claim();
  ASSERT_TRUE(claim.take());
  EXPECT_FALSE(claim.take());
  const pid_t child = ::fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    claim.give_back();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(claim.take());
  claim.give_back();
  EXPECT_TRUE(claim.take());
  claim.give_back();
}

}  // namespace
}  // namespace tarsier::agent
