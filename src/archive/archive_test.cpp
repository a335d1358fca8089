#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zstd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "archive/pack.h"
#include "archive/unpack.h"
#include "base/test_source.h"
#include "base/unique_fd.h"
#include "recording/format.h"

namespace tarsier::archive {
namespace {

using Bytes = std::vector<uint8_t>;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Bytes content(int fd) {
  struct stat info {};
  EXPECT_EQ(::fstat(fd, &info), 0);
  Bytes bytes(static_cast<size_t>(info.st_size));
  EXPECT_EQ(::pread(fd, bytes.data(), bytes.size(), 0), info.st_size);
  return bytes;
}

Bytes packed(const Bytes& recording) {
  const unique_fd file(::memfd_create("packed", 0));
  EXPECT_TRUE(pack(recording, file.get()));
  return content(file.get());
}

struct Outcome {
  Result<Unpacked> result;
  Bytes bytes;
};
Outcome unpacked(const Bytes& archive, const Limits& limits = {}) {
  const unique_fd file(::memfd_create("unpacked", 0));
  auto result = unpack(archive, file.get(), limits);
  return {std::move(result), content(file.get())};
}

// Nothing but a header is right in it, which is all that this folder looks at. The rest does not compress.
Bytes chunk(size_t size, uint32_t seed) {
  Bytes bytes(size);
  std::minstd_rand random(seed);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() >> 8);
  std::memset(bytes.data(), 0, recording::kHeaderSize);
  std::memcpy(bytes.data(), recording::kMagic, sizeof recording::kMagic);
  recording::put_be(bytes.data() + recording::kVersionAt, 2, 2);
  recording::put_be(bytes.data() + recording::kChunkSizeAt, size, 8);
  recording::put_be(bytes.data() + recording::kTicksPerSecondAt, 1'000'000'000, 8);
  return bytes;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes part(const Bytes& bytes, size_t from, size_t to) {
  return {bytes.begin() + static_cast<ptrdiff_t>(from), bytes.begin() + static_cast<ptrdiff_t>(to)};
}

Bytes fixture(const std::string& name) {
  std::ifstream in(test_source("tests/fixtures/" + name), std::ios::binary);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Archive, GivesBackEveryByte) {
  for (const Bytes& recording :
       {chunk(100, 1), chunk(kPiece, 2), chunk(kPiece + 1, 3) + chunk(5000, 4) + chunk(2 * kPiece + 7, 5),
        chunk(5000, 6) + Bytes{1, 2, 3}, part(chunk(5000, 7), 0, 4000)}) {
    const Bytes archive = packed(recording);
    EXPECT_TRUE(is_archive(archive));
    const auto [result, bytes] = unpacked(archive);
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_THAT(result->problems, IsEmpty());
    EXPECT_EQ(result->bytes, recording.size());
    EXPECT_TRUE(bytes == recording);
  }
}

TEST(Archive, OfAnEarlierVersionIsStillRead) {
  const auto [result, bytes] = unpacked(fixture("archive/golden.jfr.zst"));
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_THAT(result->problems, IsEmpty());
  EXPECT_EQ(bytes.size(), 29112U);
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a of the recording that was packed
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  EXPECT_EQ(hash, 0x7e8f19e46ce13871U);
}

TEST(Archive, KeepsChunksApartAndSaysTheirSizes) {
  const Bytes archive = packed(chunk(5000, 1) + chunk(6000, 2));
  const size_t first = ZSTD_findFrameCompressedSize(archive.data(), archive.size());
  ASSERT_LT(first, archive.size());
  EXPECT_EQ(ZSTD_getFrameContentSize(archive.data(), archive.size()), 5000U);
  EXPECT_EQ(ZSTD_getFrameContentSize(archive.data() + first, archive.size() - first), 6000U);
}

TEST(Unpack, ReadsWhatTheToolMakesOfARecording) {
  const Bytes recording = chunk(300'000, 1) + chunk(50'000, 2);
  Bytes archive(ZSTD_compressBound(recording.size()));
  archive.resize(ZSTD_compress(archive.data(), archive.size(), recording.data(), recording.size(), 1));
  const Bytes skippable = {0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
  const auto [result, bytes] = unpacked(archive + skippable);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_TRUE(bytes == recording);
}

TEST(Unpack, KeepsWhatComesBeforeACut) {
  const Bytes recording = chunk(5000, 1) + chunk(3'000'000, 2);
  const Bytes archive = packed(recording);
  const auto [result, bytes] = unpacked(part(archive, 0, archive.size() / 2));
  ASSERT_TRUE(result) << result.error().what;
  ASSERT_THAT(result->problems, SizeIs(1));
  EXPECT_THAT(result->problems[0], HasSubstr("ends within"));
  EXPECT_GT(bytes.size(), recording.size() / 3);
  EXPECT_TRUE(bytes == part(recording, 0, bytes.size()));
}

TEST(Unpack, FindsTheChunksBehindADamagedOneWhereTheyWere) {
  const Bytes recording = chunk(2 * kPiece, 1) + chunk(7000, 2);
  Bytes archive = packed(recording);
  const size_t first = ZSTD_findFrameCompressedSize(archive.data(), archive.size());
  archive[first + 100'000] ^= 1;  // in the second piece of the first chunk
  const auto [result, bytes] = unpacked(archive);
  ASSERT_TRUE(result) << result.error().what;
  ASSERT_THAT(result->problems, SizeIs(1));
  EXPECT_THAT(result->problems[0], HasSubstr("byte " + std::to_string(first)));
  ASSERT_EQ(bytes.size(), recording.size());
  EXPECT_TRUE(part(bytes, 0, kPiece) == part(recording, 0, kPiece));
  EXPECT_TRUE(part(bytes, kPiece, 2 * kPiece) == Bytes(kPiece)) << "not one byte of a piece with a wrong checksum";
  EXPECT_TRUE(part(bytes, 2 * kPiece, bytes.size()) == part(recording, 2 * kPiece, recording.size()));
}

TEST(Unpack, SkipsDamageAtTheStart) {
  const Bytes second = chunk(7000, 2);
  Bytes archive = packed(chunk(5000, 1) + second);
  archive[2000] ^= 1;
  const auto [result, bytes] = unpacked(archive);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_THAT(result->problems, SizeIs(1));
  EXPECT_TRUE(bytes == second);
}

TEST(Unpack, RefusesWhatHoldsNoRecording) {
  const Bytes text(1000, 'x');
  EXPECT_THAT(unpacked(packed(text)).result.error().what, HasSubstr("no JFR recording"));
  EXPECT_EQ(unpacked({0x28, 0xb5, 0x2f, 0xfd}).result.error().code, Errc::kCorrupt);
  EXPECT_EQ(unpacked({0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff}).result.error().code, Errc::kCorrupt);
  EXPECT_FALSE(is_archive({}));
}

TEST(Unpack, RefusesABombBeforeItFillsTheDisk) {
  Bytes start = chunk(200, 1);
  start.resize(64 << 20);  // zeros
  const Bytes bomb = packed(start);
  ASSERT_LT(bomb.size(), 100'000U);
  const auto [result, bytes] = unpacked(bomb, {10 << 20, 200});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().what, HasSubstr("too much"));
  EXPECT_LE(bytes.size(), std::max<size_t>(10 << 20, 200 * bomb.size()));
}

TEST(Unpack, AChunkThatLiesAboutItsSizeMakesNoGiantHole) {
  Bytes liar = chunk(200, 1);
  recording::put_be(liar.data() + recording::kChunkSizeAt, uint64_t{1} << 60, 8);
  Bytes archive = packed(liar);
  Bytes broken = packed(chunk(5000, 2));
  broken[1000] ^= 1;
  const auto [result, bytes] = unpacked(archive + broken + packed(chunk(300, 3)));
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_TRUE(bytes == liar + chunk(300, 3));
}

}  // namespace
}  // namespace tarsier::archive
