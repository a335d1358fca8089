#include "export/pprof.h"

#include <gtest/gtest.h>

#include <fstream>
#include <protozero/pbf_reader.hpp>
#include <sstream>
#include <vector>

#include "analysis/model_maker.h"
#include "base/test_source.h"
#include "export/gzip_for_test.h"
#include "export/page_model_for_test.h"
#include "export/pprof_fields.h"
#include "export/source_file.h"

namespace tarsier::exporting {
namespace {

std::string exported_pprof(const analysis::Model& model) {
  std::ostringstream out;
  const Status status = export_pprof(model, out);
  EXPECT_TRUE(status.ok()) << status.error().what;
  return unpacked(out.str());
}

struct Decoded {
  std::vector<std::string> strings;
  size_t samples = 0, locations = 0, functions = 0;
  std::vector<size_t> depths;
};

Decoded decoded(const std::string& bytes) {
  Decoded out;
  protozero::pbf_reader profile(bytes);
  while (profile.next()) {
    switch (profile.tag()) {
      case pprof::Profile::kStringTable:
        out.strings.push_back(profile.get_string());
        break;
      case pprof::Profile::kSample: {
        protozero::pbf_reader sample = profile.get_message();
        EXPECT_TRUE(sample.next(pprof::Sample::kLocationId));
        const auto ids = sample.get_packed_uint64();
        out.depths.push_back(static_cast<size_t>(std::distance(ids.begin(), ids.end())));
        ++out.samples;
        break;
      }
      case pprof::Profile::kLocation:
        ++out.locations, profile.skip();
        break;
      case pprof::Profile::kFunction:
        ++out.functions, profile.skip();
        break;
      default:
        profile.skip();
    }
  }
  return out;
}

analysis::Model known_with_engine() {
  analysis::Model model = known_model();
  model.producer = "tarsier 0.1.0";
  model.jvm = "17.0.15+6";
  model.pid = 42;
  model.start_ns = 1'700'000'000'000'000'000;
  model.duration = seconds(3);
  model.engines.push_back({.name = "agct",
                           .mechanism = "perf",
                           .why = "permitted",
                           .interval = millis(1),
                           .taken = 7,
                           .written = 5,
                           .dropped = {{"ring full", 2}}});
  model.problems = {"a chunk was cut"};
  return model;
}

// tests/report/test_exports.py compares protoc's view of this file with known.pprof.txt.
// TARSIER_UPDATE_GOLDEN=1 writes it anew.
TEST(Pprof, is_the_bytes_that_protoc_is_shown) {
  const std::string path = test_source("tests/fixtures/export/known.pprof");
  const std::string bytes = exported_pprof(known_with_engine());
  if (getenv("TARSIER_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << bytes;
  std::ifstream fixture(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(fixture), {}};
  EXPECT_EQ(bytes, expected);
}

TEST(Pprof, the_same_recording_gives_the_same_bytes) {
  const analysis::Model model = known_with_engine();
  EXPECT_EQ(exported_pprof(model), exported_pprof(model));
}

TEST(Pprof, an_empty_recording_is_a_profile_too) {
  const Decoded profile = decoded(exported_pprof(ModelForTest().model));
  ASSERT_FALSE(profile.strings.empty());
  EXPECT_EQ(profile.strings[0], "");
  EXPECT_EQ(profile.samples, 0U);
}

TEST(Pprof, strings_locations_and_functions_are_there_once_and_harmless) {
  analysis::ModelMaker maker;
  const auto main = maker.thread("evil\x1b[31m\xe2\x80\xae");
  const auto other = maker.thread("other");
  for (int i = 0; i < 3; ++i) {
    maker.sample(main, "a:1;b:2;b:2;</script>", 1);
    maker.sample(other, "a:1;b:2", 1);
    maker.sample(other, "a:1;b:3", 1);
  }
  Decoded profile = decoded(exported_pprof(maker.model));
  EXPECT_EQ(profile.samples, 3U);    // by thread and stack
  EXPECT_EQ(profile.locations, 4U);  // a:1 b:2 b:3 script
  EXPECT_EQ(profile.functions, 3U);
  std::sort(profile.strings.begin(), profile.strings.end());
  EXPECT_EQ(std::adjacent_find(profile.strings.begin(), profile.strings.end()), profile.strings.end());
  EXPECT_TRUE(std::binary_search(profile.strings.begin(), profile.strings.end(), "evil\\u{1b}[31m\\u{202e}"));
}

// The types of a profile's values, and the values of its samples.
std::string values_of(const std::string& bytes) {
  const std::vector<std::string> strings = decoded(bytes).strings;
  std::string text;
  protozero::pbf_reader profile(bytes);
  while (profile.next()) {
    if (profile.tag() == pprof::Profile::kSampleType) {
      protozero::pbf_reader type = profile.get_message();
      while (type.next()) text += strings.at(static_cast<size_t>(type.get_int64())) + " ";
    } else if (profile.tag() == pprof::Profile::kSample) {
      protozero::pbf_reader sample = profile.get_message();
      EXPECT_TRUE(sample.next(pprof::Sample::kValue));
      for (const int64_t value : sample.get_packed_int64()) text += std::to_string(value) + " ";
    } else {
      profile.skip();
    }
  }
  return text;
}

TEST(Pprof, allocation_counts_objects_and_bytes) {
  analysis::ModelMaker maker;
  const auto main = maker.thread("main");
  maker.model.profile = analysis::Profile::kAlloc;
  maker.model.unsampled_cpu = {{analysis::ThreadKind::kGc, millis(200)}};
  maker.sample(main, "app.Main.make;byte[]", 1000);
  maker.sample(main, "app.Main.make;byte[]", 3000);
  maker.model.alloc_objects = {1.5F, 4.0F};
  EXPECT_EQ(values_of(exported_pprof(maker.model)), "alloc_objects count alloc_space bytes 6 4000 ");
  maker.model.alloc_objects.clear();  // recordings of JFR don't tell sizes
  EXPECT_EQ(values_of(exported_pprof(maker.model)), "alloc_objects count alloc_space bytes 0 4000 ");
  maker.model.profile = analysis::Profile::kWall;
  EXPECT_EQ(values_of(exported_pprof(maker.model)), "samples count wall nanoseconds 2 4000 ");
}

TEST(Pprof, deep_stacks_lose_their_outer_frames) {
  ModelForTest made;
  const auto thread = made.thread("main");
  analysis::StackIndex stack;
  for (int i = 0; i < 10'000; ++i) stack = made.frame(stack, "a.B.c", analysis::FrameType::kC2, i);
  made.sample(thread, stack, 1);
  const Decoded profile = decoded(exported_pprof(made.model));
  EXPECT_EQ(profile.depths, std::vector<size_t>{kMaxPprofDepth + 1});
  EXPECT_NE(std::find(profile.strings.begin(), profile.strings.end(), "[deeper]"), profile.strings.end());
}

TEST(Pprof, large_profiles_survive_the_passing_on_of_buffers) {
  analysis::ModelMaker maker;
  const auto main = maker.thread("main");
  for (int i = 0; i < 20'000; ++i) maker.sample(main, "app.Main.main;app.Main.call" + std::to_string(i), 1);
  const Decoded profile = decoded(exported_pprof(maker.model));
  EXPECT_EQ(profile.samples, 20'000U);
  EXPECT_EQ(profile.functions, 20'001U);
}

TEST(Pprof, a_stream_that_fails_is_an_error) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_FALSE(export_pprof(known_model(), out).ok());
}

TEST(SourceFile, follows_javacs_convention) {
  const auto file = [](std::string name) { return source_file_of({std::move(name), "()V"}); };
  EXPECT_EQ(file("demo.Main.run"), "demo/Main.java");
  EXPECT_EQ(file("demo.Main$Inner$1.run"), "demo/Main.java");
  EXPECT_EQ(file("demo.Main$$Lambda.0x00007f8000c01000.run"), "demo/Main.java");
  EXPECT_EQ(file("Main.<init>"), "Main.java");
  EXPECT_EQ(file("jdk.proxy2.$Proxy12.run"), "jdk/proxy2/$Proxy12.java");
  EXPECT_EQ(file("nothing"), "");
  EXPECT_EQ(source_file_of({"libc.so.memcpy", ""}), "");
}

}  // namespace
}  // namespace tarsier::exporting
