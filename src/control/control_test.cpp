#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "control/channel.h"
#include "control/messages.h"
#include "control/options.h"

namespace tarsier::control {
namespace {

TEST(AgentString, reads_what_it_writes) {
  SessionOptions options;
  options.engine = "agct";
  options.threads = "pool-[0-9]{1,2}-100%2c%";
  options.clock = "perf";
  options.interval = micros(250);
  options.duration = seconds(90);
  options.memory = Bytes(1 << 24);
  options.max_depth = 64;
  options.native = true;
  options.save_fragments = 10;
  options.cpu = true;
  options.alloc = true;
  options.alloc_interval = Bytes(4096);
  const auto parsed = parse_agent_string(to_agent_string(options));
  ASSERT_TRUE(parsed) << parsed.error().what;
  EXPECT_EQ(parsed->session, options);
}

TEST(AgentString, names_the_word_that_it_does_not_know) {
  for (const char* bad : {"cpux", "interval", "interval=", "interval=1parsec", "cpu=1", "alloc=", "alloc=2g", "alloc=x",
                          "maxdepth=0", "maxdepth=1x", "savefragments=0", "file=a,connect=b"}) {
    const auto parsed = parse_agent_string(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, Errc::kUsage);
    EXPECT_NE(parsed.error().what.find(std::string(bad).substr(0, 3)), std::string::npos) << parsed.error().what;
  }
}

TEST(AgentString, names_some_engines_or_means_all_that_change_nothing) {
  const auto wants = [](const char* text) {
    const auto parsed = parse_agent_string(text);
    return std::pair(parsed->session.wants_cpu(), parsed->session.wants_alloc());
  };
  EXPECT_EQ(wants("interval=1ms"), std::pair(true, true));
  EXPECT_EQ(wants("cpu"), std::pair(true, false));
  EXPECT_EQ(wants("alloc"), std::pair(false, true));
  EXPECT_EQ(wants("waits"), std::pair(true, false));
  EXPECT_EQ(wants("waits=1ms,alloc"), std::pair(false, true));
  EXPECT_EQ(wants("alloc=1k,cpu"), std::pair(true, true));
  // Locks asked for are all that is recorded; the blocked side comes with what is recorded unasked.
  EXPECT_EQ(wants("lock"), std::pair(false, false));
  const auto level = [](const char* text) { return parse_agent_string(text)->session.lock_level(); };
  EXPECT_EQ(level(""), "blocked");
  EXPECT_EQ(level("cpu"), "");
  EXPECT_EQ(level("cpu,lock=blocked"), "blocked");
  EXPECT_EQ(level("lock"), "owner");
  EXPECT_EQ(to_agent_string(parse_agent_string("lock,nohooks")->session), "lock=owner,nohooks");
  EXPECT_FALSE(parse_agent_string("lock=both"));

  const SessionOptions waits = parse_agent_string("waits=1ms-2s,waitsby=watcher")->session;
  EXPECT_EQ(std::pair(waits.waits_min, waits.waits_max), std::pair(millis(1), seconds(2)));
  EXPECT_EQ(to_agent_string(waits), "waits=1ms-2s,waitsby=watcher");
  EXPECT_EQ(to_agent_string(parse_agent_string("cpu,fragmentsize=16k")->session), "cpu,fragmentsize=16384");
  EXPECT_EQ(to_agent_string(parse_agent_string("cpu,walks=both")->session), "cpu,walks=both");
  EXPECT_EQ(parse_agent_string("cpu,walks=agct")->session.walks, "agct");
  EXPECT_FALSE(parse_agent_string("cpu,walks=none"));
  EXPECT_FALSE(parse_agent_string("waits=2s-1ms"));
  EXPECT_FALSE(parse_agent_string("waitsby=magic"));
  const SessionOptions budget = parse_agent_string("waitsbudget=2.5%")->session;
  EXPECT_EQ(budget.waits_budget, 0.025);
  EXPECT_EQ(parse_agent_string(to_agent_string(budget))->session, budget);
  EXPECT_EQ(to_agent_string(parse_agent_string("waits=1ms,waitsbudget=1%")->session), "waits=1ms");
  EXPECT_FALSE(parse_agent_string("waitsbudget=2"));
  EXPECT_EQ(parse_agent_string("alloc")->session.alloc_interval, Bytes(512 << 10));
  EXPECT_EQ(parse_agent_string("alloc=256k")->session.alloc_interval, Bytes(256 << 10));
}

TEST(Messages, come_back_as_they_were) {
  Finished finished;
  finished.complete = false;
  finished.missing = "disk \"full\"";
  finished.warnings = {"late"};
  finished.taken = 12;
  finished.written = 10;
  finished.dropped = {{"ring full", 2}};
  finished.file_size = Bytes(123);
  const auto back = decode(encode(finished));
  ASSERT_TRUE(back);
  const auto& f = std::get<Finished>(*back);
  EXPECT_FALSE(f.complete);
  EXPECT_EQ(f.missing, finished.missing);
  EXPECT_EQ(f.warnings, finished.warnings);
  EXPECT_EQ(f.dropped, finished.dropped);
  EXPECT_EQ(f.file_size, finished.file_size);

  Start start;
  start.options.interval = millis(2);
  start.file_name = "a.jfr";
  start.most_on_disk = Bytes(5);
  const auto s = std::get<Start>(*decode(encode(start)));
  EXPECT_EQ(s.options, start.options);
  EXPECT_EQ(s.file_name, start.file_name);
  EXPECT_EQ(s.most_on_disk, start.most_on_disk);
  EXPECT_EQ(std::get<Failed>(*decode(encode(Failed{Errc::kBusy, "x"}))).code, Errc::kBusy);
  const auto wanted = std::get<KernelWanted>(*decode(encode(KernelWanted{{1, ~uint64_t{0}}, Bytes(4096)})));
  EXPECT_EQ(wanted.layout, (std::vector<uint64_t>{1, ~uint64_t{0}}));
  EXPECT_EQ(wanted.ring, Bytes(4096));
  const auto lent = std::get<KernelLent>(*decode(encode(KernelLent{"no", Bytes(7), false, true})));
  EXPECT_EQ(lent.refusal, "no");
  EXPECT_EQ(lent.scratch, Bytes(7));
  EXPECT_FALSE(lent.sees_kernel);
  EXPECT_TRUE(lent.hides_kernel);
  const auto waits = std::get<WaitsWanted>(*decode(encode(WaitsWanted{{3}, Bytes(4096), Bytes(5)})));
  EXPECT_EQ(waits.layout, std::vector<uint64_t>{3});
  EXPECT_EQ(waits.ring, Bytes(4096));
  EXPECT_EQ(waits.copies, Bytes(5));
  EXPECT_TRUE(std::holds_alternative<TurnsWanted>(*decode(encode(TurnsWanted()))));
  EXPECT_EQ(std::get<TurnsLent>(*decode(encode(TurnsLent{"no"}))).refusal, "no");
  const auto waits_lent = std::get<WaitsLent>(*decode(encode(WaitsLent{"no", Bytes(7)})));
  EXPECT_EQ(waits_lent.refusal, "no");
  EXPECT_EQ(waits_lent.maps, Bytes(7));
}

TEST(Messages, of_another_protocol_or_shape_are_errors_and_never_throw) {
  for (const char* bad : {"", "[]", "{}", "{\"tarsier\":2,\"type\":\"stop\"}", "{\"tarsier\":1,\"type\":\"dance\"}",
                          "{\"tarsier\":1,\"type\":\"start\",\"options\":\"interval=x\"}", "\xff\xfe"}) {
    EXPECT_FALSE(decode(bad)) << bad;
  }
  EXPECT_FALSE(decode(std::string(1 << 20, '[')));
  EXPECT_TRUE(decode(R"({"tarsier":1,"type":"progress","taken":"many","elapsed_ns":1e99,"hottest":7})"));
}

TEST(Messages, with_names_that_are_no_utf8_are_still_sent) {
  Progress progress;
  progress.hottest = "a\xff\xfe";
  EXPECT_TRUE(decode(encode(progress)));
}

TEST(Channel, carries_messages_in_pieces_and_descriptors) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  Channel left{unique_fd(pair[0])};
  Channel right{unique_fd(pair[1])};
  Progress large;
  large.hottest.assign(900'000, 'x');  // larger than the socket's buffer
  std::thread sender([&] {
    EXPECT_TRUE(left.send(large, seconds(20)));
    const int both[] = {0, 1};
    EXPECT_TRUE(left.send(Start{}, seconds(20), both));
  });
  auto first = right.receive(seconds(20));
  ASSERT_TRUE(first && *first);
  EXPECT_EQ(std::get<Progress>((*first)->message).hottest, large.hottest);
  EXPECT_TRUE((*first)->descriptors.empty());
  auto second = right.receive(seconds(20));
  ASSERT_TRUE(second && *second);
  ASSERT_EQ((*second)->descriptors.size(), 2u);
  EXPECT_TRUE((*second)->descriptors[0] && (*second)->descriptors[1]);
  sender.join();

  auto nothing = right.receive(Nanos(0));
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(*nothing);
  left = Channel{unique_fd()};
  EXPECT_EQ(right.receive(seconds(1)).error().code, Errc::kNotFound);
  EXPECT_EQ(right.send(Stop{}, seconds(1)).error().code, Errc::kNotFound);  // and no SIGPIPE
}

TEST(Channel, an_endless_message_is_refused) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  Channel right{unique_fd(pair[1])};
  ASSERT_EQ(::write(pair[0], "\xff\xff\xff\xff", 4), 4);
  EXPECT_EQ(right.receive(seconds(1)).error().code, Errc::kCorrupt);
  ::close(pair[0]);
}

TEST(Sockets, are_private_and_refuse_long_paths) {
  std::string folder = (std::filesystem::temp_directory_path() / "tarsierXXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  auto listener = listen_at(folder + "/s");
  ASSERT_TRUE(listener) << listener.error().what;
  struct stat st {};
  ASSERT_EQ(::stat((folder + "/s").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  auto client = connect_to(folder + "/s", seconds(1));
  ASSERT_TRUE(client);
  auto server = accept_from(listener->get(), seconds(1));
  ASSERT_TRUE(server);
  const auto peer = peer_credentials(server->get());
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_FALSE(accept_from(listener->get(), millis(1)));
  EXPECT_EQ(listen_at(std::string(200, 'x')).error().code, Errc::kUsage);
  EXPECT_FALSE(connect_to(folder + "/none", millis(1)));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tarsier::control
