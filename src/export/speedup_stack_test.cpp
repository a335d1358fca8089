#include "export/speedup_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "analysis/machine_stack.h"
#include "analysis/model_maker.h"

namespace tarsier::exporting {
namespace {

using analysis::MachineMoment;
using analysis::MachinePart;
using analysis::ModelMaker;
using analysis::ThreadKind;
using testing::HasSubstr;
using testing::Not;

// Two CPUs for four seconds: the application has one for all of them, the collector the other in the first two.
void fill(analysis::Model& model) {
  model.duration = seconds(4);
  model.cpus = 2;
  for (int second = 1; second <= 4; ++second) {
    MachineMoment now;
    now.time_ns = model.start_ns + seconds(second).count;
    now.kinds[static_cast<size_t>(ThreadKind::kApp)].cpu = seconds(second);
    now.kinds[static_cast<size_t>(ThreadKind::kGc)].cpu = seconds(std::min(second, 2));
    now.process_cpu = now.busy = seconds(second + std::min(second, 2));
    now.idle = seconds(std::max(second - 2, 0));
    model.machine_over_time.push_back(now);
  }
  model.machine = analysis::MachineCpu();
  model.machine->busy = model.machine->process_cpu = seconds(6);
  model.machine->idle = seconds(2);
}

double cpus_of(const analysis::MachineStack& stack, std::string_view name) {
  for (const MachinePart& part : stack.parts) {
    if (part.name == name) return part.cpus;
  }
  return -1;
}

TEST(SpeedupStack, is_told_piece_by_piece) {
  ModelMaker maker;
  fill(maker.model);
  const auto pieces = analysis::machine_stack_over_time(maker.model, 100);
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_DOUBLE_EQ(cpus_of(pieces[1].stack, "application"), 1);
  EXPECT_DOUBLE_EQ(cpus_of(pieces[1].stack, "GC"), 1);
  EXPECT_DOUBLE_EQ(cpus_of(pieces[1].stack, "idle"), 0);
  EXPECT_DOUBLE_EQ(cpus_of(pieces[2].stack, "GC"), 0);
  EXPECT_DOUBLE_EQ(cpus_of(pieces[2].stack, "idle"), 1);
  EXPECT_DOUBLE_EQ(cpus_of(pieces[2].stack, "other processes"), 0);
}

TEST(SpeedupStack, of_a_long_recording_has_longer_pieces) {
  ModelMaker maker;
  fill(maker.model);
  const auto pieces = analysis::machine_stack_over_time(maker.model, 3);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_DOUBLE_EQ(cpus_of(pieces[0].stack, "GC"), 1);
  EXPECT_EQ(pieces[1].to_ns, maker.model.start_ns + seconds(4).count);
}

TEST(SpeedupStack, shows_stolen_time_once) {
  ModelMaker maker;
  fill(maker.model);
  for (MachineMoment& now : maker.model.machine_over_time) {
    const Nanos stolen = Nanos((now.time_ns - maker.model.start_ns) / 4);
    now.steal = now.steal_of_threads = now.kinds[static_cast<size_t>(ThreadKind::kApp)].steal = stolen;
    now.busy -= stolen;
  }
  maker.model.machine->steal_in_cpu_time = true;
  const auto pieces = analysis::machine_stack_over_time(maker.model, 100);
  EXPECT_DOUBLE_EQ(cpus_of(pieces[1].stack, "application"), 0.75);
  EXPECT_DOUBLE_EQ(cpus_of(pieces[1].stack, "stolen by the hypervisor"), 0.25);
  EXPECT_DOUBLE_EQ(cpus_of(pieces[1].stack, "other processes"), 0);
  EXPECT_DOUBLE_EQ(pieces[1].stack.cpus, 2);
}

TEST(SpeedupStack, is_a_picture) {
  ModelMaker maker;
  fill(maker.model);
  maker.model.jvm = "<script>'\"&";
  std::ostringstream out;
  ASSERT_TRUE(export_speedup_stack(maker.model, out).ok());
  const std::string svg = out.str();
  EXPECT_THAT(svg, testing::StartsWith("<svg "));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("<title>GC: 1.00 CPUs, 1.00 s</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST(SpeedupStack, needs_a_recording_that_knows_of_it) {
  ModelMaker maker;
  std::ostringstream out;
  EXPECT_EQ(export_speedup_stack(maker.model, out).error().code, Errc::kUsage);
  EXPECT_TRUE(out.str().empty());
}

}  // namespace
}  // namespace tarsier::exporting
