#include "classfile/insert_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/test_source.h"
#include "classfile/code_layout.h"

namespace tarsier::classfile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = Argument::Kind;

std::string fixture(const std::string& name) {
  return test_source("tests/fixtures/classfile/" + name);
}

std::vector<uint8_t> read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Insertion at_return(std::string method, std::vector<Argument> arguments) {
  return {.method = std::move(method),
          .place = Place::kReturn,
          .callee_class = "Probe",
          .callee = "end",
          .arguments = std::move(arguments)};
}

Insertion at_entry(std::string method, std::vector<Argument> arguments) {
  Insertion call = at_return(std::move(method), std::move(arguments));
  call.place = Place::kEntry;
  call.callee = "begin";
  return call;
}

std::vector<Insertion> calls_of_fixture() {
  std::vector<Insertion> calls;
  for (const char* method :
       {"workLoop", "workTable", "workLookup", "workNew", "workHandlers", "workNothing", "workFar"}) {
    calls.push_back(
        at_entry(method, {{.kind = Kind::kLong, .value = 123'456'789'012}, {.kind = Kind::kInt, .value = 70'000}}));
  }
  for (const char* method : {"workLoop", "workLookup", "workNew", "workHandlers", "workFar"}) {
    calls.push_back(at_return(method, {{.kind = Kind::kResult}}));
  }
  calls.push_back(at_return("workNothing", {}));
  calls.push_back(at_return("workTable", {{.kind = Kind::kResult},
                                          {.kind = Kind::kThis},
                                          {.kind = Kind::kField, .name = "sum", .descriptor = "J"},
                                          {.kind = Kind::kParameter, .value = 0},
                                          {.kind = Kind::kParameter, .value = 2}}));
  return calls;
}

Result<InsertedCalls> insert_one(const Insertion& call) {
  return insert_calls(read(fixture("plain/Shapes.class")), {&call, 1});
}

// tests/integration/test_classfile.py runs that file.
TEST(InsertCalls, GivesTheClassThatAJvmHasVerified) {
  const auto made = insert_calls(read(fixture("plain/Shapes.class")), calls_of_fixture());
  ASSERT_TRUE(made) << made.error().what;
  for (const size_t methods : made->methods) EXPECT_EQ(methods, 1U);
  const std::string golden = fixture("with_calls/Shapes.class");
  if (std::getenv("TARSIER_WRITE_GOLDEN") != nullptr) {
    std::ofstream(golden, std::ios::binary)
        .write(reinterpret_cast<const char*>(made->bytes.data()), static_cast<std::streamsize>(made->bytes.size()));
  }
  EXPECT_EQ(made->bytes, read(golden));
}

TEST(InsertCalls, WithoutAnyLeavesTheClassAsItIs) {
  for (const char* name : {"plain/Shapes.class", "with_calls/Shapes.class"}) {
    const auto bytes = read(fixture(name));
    const auto made = insert_calls(bytes, {});
    ASSERT_TRUE(made) << made.error().what;
    EXPECT_EQ(made->bytes, bytes) << name;
  }
}

TEST(InsertCalls, PutsNothingWhereNoMethodIsMeant) {
  Insertion call = at_entry("workLoop", {});
  call.descriptor = "(J)I";
  const auto made = insert_one(call);
  ASSERT_TRUE(made);
  EXPECT_THAT(made->methods, ElementsAre(0U));
  EXPECT_EQ(made->bytes, read(fixture("plain/Shapes.class")));
}

TEST(InsertCalls, RefusesWhatTheMethodDoesNotHave) {
  const auto why = [](const Insertion& call) {
    const auto made = insert_one(call);
    return made ? "" : made.error().what;
  };
  EXPECT_THAT(why(at_entry("workLoop", {{.kind = Kind::kThis}})), HasSubstr("static"));
  EXPECT_THAT(why(at_entry("workFar", {{.kind = Kind::kParameter, .value = 1}})), HasSubstr("parameters"));
  EXPECT_THAT(why(at_return("workLoop", {{.kind = Kind::kParameter}})), HasSubstr("changes its parameter"));
  EXPECT_THAT(why(at_return("workNothing", {{.kind = Kind::kResult}})), HasSubstr("returns nothing"));
  EXPECT_THAT(why(at_return("workFar", {{.kind = Kind::kInt}, {.kind = Kind::kResult}})), HasSubstr("not at hand"));
  EXPECT_THAT(why(at_entry("<init>", {{.kind = Kind::kThis}})), HasSubstr("not there yet"));
}

TEST(InsertCalls, RefusesAClassThatIsCutAnywhere) {
  const auto whole = read(fixture("plain/Shapes.class"));
  const auto calls = calls_of_fixture();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(insert_calls(std::span(whole).first(size), calls)) << size;
  }
}

// A method of nothing but the beginning of a jump, much, and a return: `goto` knows no more than 32 KB.
TEST(NewLayout, RefusesAJumpThatBecomesTooFar) {
  std::vector<uint8_t> code = {167, 0x7f, 0xff};
  code.resize(0x7fff, 0);  // nop
  code.push_back(177);     // where it leads
  const auto parsed = Code::parse(code);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(NewLayout(*parsed, {}, {}).write());
  const std::vector<uint8_t> nop = {0};
  EXPECT_TRUE(NewLayout(*parsed, nop, nop).write());
  code.insert(code.begin() + 3, 177);
  code[2] = 0xff;
  const auto with_return = Code::parse(code);
  ASSERT_TRUE(with_return);
  EXPECT_FALSE(NewLayout(*with_return, {}, nop).write());
}

TEST(Code, RefusesWhatIsNoInstruction) {
  for (const std::vector<uint8_t>& code : std::vector<std::vector<uint8_t>>{
           {}, {202}, {16}, {196, 0, 0, 0}, {170, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1}, {171, 0, 0, 0}}) {
    EXPECT_FALSE(Code::parse(code));
  }
}

}  // namespace
}  // namespace tarsier::classfile
