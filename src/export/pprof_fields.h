// The numbers of the fields of pprof's published schema (profile.proto) that we write. tests/fixtures/pprof has the
// same facts in protoc's language, for the tests that decode our output with it.
#pragma once

#include <protozero/types.hpp>

namespace tarsier::exporting::pprof {

using Field = protozero::pbf_tag_type;

struct Profile {
  static constexpr Field kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5, kStringTable = 6,
                         kTimeNanos = 9, kDurationNanos = 10, kPeriodType = 11, kPeriod = 12, kComment = 13,
                         kDefaultSampleType = 14;
};
struct ValueType {
  static constexpr Field kType = 1, kUnit = 2;
};
struct Sample {
  static constexpr Field kLocationId = 1, kValue = 2, kLabel = 3;
};
struct Label {
  static constexpr Field kKey = 1, kStr = 2, kNum = 3;
};
struct Mapping {
  static constexpr Field kId = 1, kFilename = 5, kHasFunctions = 7, kHasFilenames = 8, kHasLineNumbers = 9,
                         kHasInlineFrames = 10;
};
struct Location {
  static constexpr Field kId = 1, kMappingId = 2, kLine = 4;
};
struct Line {
  static constexpr Field kFunctionId = 1, kLine = 2;
};
struct Function {
  static constexpr Field kId = 1, kName = 2, kSystemName = 3, kFilename = 4;
};

}  // namespace tarsier::exporting::pprof
