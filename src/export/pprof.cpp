#include "export/pprof.h"

#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/index_table.h"
#include "analysis/selection.h"
#include "analysis/stack_builder.h"
#include "analysis/thread_kind.h"
#include "export/escape.h"
#include "export/gzip.h"
#include "export/pprof_comments.h"
#include "export/pprof_fields.h"
#include "export/source_file.h"

namespace tarsier::exporting {
namespace {

using analysis::Model;
using protozero::pbf_writer;

constexpr uint64_t kMappingId = 1;

// Every string once; readers want the empty one first.
class StringTable {
 public:
  StringTable() { id({}); }

  // What comes from the recording goes in harmless: pprof's own command prints names to terminals as they are.
  int64_t id(std::string_view text) {
    const std::string shown = visible(text);
    const std::hash<std::string> hash;
    const auto next = static_cast<uint32_t>(strings_.size());
    const uint32_t found = table_.find_or_enter(
        hash(shown), next, [&](uint32_t i) { return strings_[i] == shown; },
        [&](uint32_t i) { return hash(strings_[i]); });
    if (found == next) strings_.push_back(shown);
    return found;
  }
  [[nodiscard]] const std::deque<std::string>& all() const { return strings_; }

 private:
  std::deque<std::string> strings_;
  analysis::IndexTable table_;
};

class PprofWriter {
 public:
  PprofWriter(const Model& model, std::ostream& out)
      : model_(model),
        gzip_(out),
        location_of_stack_(model.stacks.size(), 0),
        function_of_method_(model.methods.size()) {}

  // Fields may come in any order, so samples go first and collect what the tables after them must hold.
  bool write() {
    write_head();
    write_samples();
    write_unsampled();
    write_mapping();
    write_locations();
    write_functions();
    for (const std::string& text : strings_.all()) {
      profile_.add_string(pprof::Profile::kStringTable, text);
      pass_on();
    }
    pass_on(true);
    return gzip_.finish();
  }

 private:
  struct Location {
    uint64_t function = 0;
    int32_t line = 0;
  };

  void pass_on(bool all = false) {
    constexpr size_t kEnough = 1 << 16;
    if (!all && buffer_.size() < kEnough) return;
    gzip_.write(buffer_);
    buffer_.clear();
  }

  void value_type(pprof::Field field, std::string_view type, std::string_view unit) {
    pbf_writer out(profile_, field);
    out.add_int64(pprof::ValueType::kType, strings_.id(type));
    out.add_int64(pprof::ValueType::kUnit, strings_.id(unit));
  }

  void write_head() {
    // The words that Go's own profiles use.
    const bool bytes = is_alloc();
    value_type(pprof::Profile::kSampleType, bytes ? "alloc_objects" : of_locks() ? "contentions" : "samples", "count");
    const std::string_view type = bytes ? "alloc_space" : of_locks() ? "delay" : analysis::about(model_.profile).name;
    const std::string_view unit = bytes ? "bytes" : "nanoseconds";
    value_type(pprof::Profile::kSampleType, type, unit);
    value_type(pprof::Profile::kPeriodType, type, unit);
    profile_.add_int64(pprof::Profile::kPeriod, period(bytes));
    profile_.add_int64(pprof::Profile::kDefaultSampleType, strings_.id(type));
    profile_.add_int64(pprof::Profile::kTimeNanos, model_.start_ns);
    profile_.add_int64(pprof::Profile::kDurationNanos, model_.duration.count);
    std::vector<int64_t> comments;
    for (const std::string& comment : pprof_comments(model_)) comments.push_back(strings_.id(comment));
    profile_.add_packed_int64(pprof::Profile::kComment, comments.begin(), comments.end());
  }

  [[nodiscard]] bool is_alloc() const { return model_.profile == analysis::Profile::kAlloc; }

  [[nodiscard]] bool of_locks() const {
    return model_.profile == analysis::Profile::kLocks || model_.profile == analysis::Profile::kOwners;
  }

  // Of the first engine of that kind. Contentions are all there.
  [[nodiscard]] int64_t period(bool in_bytes) const {
    if (of_locks()) return 1;
    for (const analysis::Engine& engine : model_.engines) {
      const int64_t interval = in_bytes ? engine.interval_bytes.count : engine.interval.count;
      if (interval != 0) return interval;
    }
    return 0;
  }

  void text_label(pbf_writer& sample, std::string_view key, std::string_view text) {
    pbf_writer label(sample, pprof::Sample::kLabel);
    label.add_int64(pprof::Label::kKey, strings_.id(key));
    label.add_int64(pprof::Label::kStr, strings_.id(text));
  }

  void write_sample(const std::vector<uint64_t>& locations, int64_t count, int64_t weight,
                    const std::function<void(pbf_writer&)>& labels) {
    {
      pbf_writer sample(profile_, pprof::Profile::kSample);
      sample.add_packed_uint64(pprof::Sample::kLocationId, locations.begin(), locations.end());
      const std::array<int64_t, 2> values = {count, weight};
      sample.add_packed_int64(pprof::Sample::kValue, values.begin(), values.end());
      labels(sample);
    }
    pass_on();
  }

  void write_samples() {
    std::vector<uint64_t> locations;  // innermost first
    for (const auto& row : analysis::weigh_stacks(model_, {}, /*by_thread=*/true).rows) {
      locations.clear();
      for (uint32_t stack = row.stack.value; stack != 0; stack = model_.stacks[stack].parent.value) {
        if (locations.size() == kMaxPprofDepth) {
          locations.push_back(marker_location(analysis::StackBuilder::kDeeper));
          break;
        }
        locations.push_back(location_of_stack(stack));
      }
      const int64_t count = is_alloc() ? std::llround(row.objects) : static_cast<int64_t>(row.samples);
      write_sample(locations, count, row.weight, [&](pbf_writer& sample) {
        if (row.group < model_.threads.size()) thread_labels(sample, model_.threads[row.group]);
        text_label(sample, "frame_type", recording::frame_type_name(model_.stacks[row.stack.value].type));
      });
    }
  }

  void thread_labels(pbf_writer& sample, const analysis::Thread& thread) {
    text_label(sample, "thread", thread.name);
    text_label(sample, "thread_kind", analysis::thread_kind_name(thread.kind));
    pbf_writer label(sample, pprof::Sample::kLabel);
    label.add_int64(pprof::Label::kKey, strings_.id("thread_id"));
    label.add_int64(pprof::Label::kNum, thread.os_id);
  }

  void write_unsampled() {
    for (const auto& [kind, cpu] : analysis::unsampled_cpu(model_, {})) {
      write_sample({marker_location(analysis::unsampled_root_name(kind))}, 0, cpu.count,
                   [&, kind = kind](pbf_writer& sample) {
                     text_label(sample, "thread_kind", analysis::thread_kind_name(kind));
                   });
    }
  }

  uint64_t location_of_stack(uint32_t stack) {
    uint64_t& location = location_of_stack_[stack];
    if (location == 0) {
      const analysis::StackNode& node = model_.stacks[stack];
      location = location_of(function_of(node.method), node.line);
    }
    return location;
  }
  uint64_t marker_location(std::string_view name) {
    uint64_t& function = function_of_marker_[std::string(name)];
    if (function == 0) function = add_function({std::string(name), {}});
    return location_of(function, 0);
  }

  uint64_t location_of(uint64_t function, int32_t line) {
    uint32_t& known = location_of_line_[function << 32 | static_cast<uint32_t>(line)];
    if (known == analysis::KeyMap::kNone) {
      known = static_cast<uint32_t>(locations_.size());
      locations_.push_back({function, line});
    }
    return known + uint64_t{1};  // ids start at 1
  }
  uint64_t function_of(analysis::MethodIndex method) {
    uint64_t& function = function_of_method_[method.value];
    if (function == 0) function = add_function(model_.methods[method.value]);
    return function;
  }
  uint64_t add_function(const analysis::Method& method) {
    functions_.push_back(
        {strings_.id(method.name), strings_.id(method.name + method.descriptor), strings_.id(source_file_of(method))});
    return functions_.size();
  }

  // Nothing is mapped, but without this readers would look for symbols that we have given already.
  void write_mapping() {
    pbf_writer out(profile_, pprof::Profile::kMapping);
    out.add_uint64(pprof::Mapping::kId, kMappingId);
    out.add_int64(pprof::Mapping::kFilename, strings_.id("java"));
    for (const pprof::Field has : {pprof::Mapping::kHasFunctions, pprof::Mapping::kHasFilenames,
                                   pprof::Mapping::kHasLineNumbers, pprof::Mapping::kHasInlineFrames}) {
      out.add_bool(has, true);
    }
  }

  void write_locations() {
    uint64_t id = 0;
    for (const Location& location : locations_) {
      {
        pbf_writer out(profile_, pprof::Profile::kLocation);
        out.add_uint64(pprof::Location::kId, ++id);
        out.add_uint64(pprof::Location::kMappingId, kMappingId);
        pbf_writer line(out, pprof::Location::kLine);
        line.add_uint64(pprof::Line::kFunctionId, location.function);
        line.add_int64(pprof::Line::kLine, location.line);
      }
      pass_on();
    }
  }

  void write_functions() {
    uint64_t id = 0;
    for (const auto& [name, system_name, file] : functions_) {
      {
        pbf_writer out(profile_, pprof::Profile::kFunction);
        out.add_uint64(pprof::Function::kId, ++id);
        out.add_int64(pprof::Function::kName, name);
        out.add_int64(pprof::Function::kSystemName, system_name);
        out.add_int64(pprof::Function::kFilename, file);
      }
      pass_on();
    }
  }

  const Model& model_;
  GzipStream gzip_;
  std::string buffer_;
  pbf_writer profile_{buffer_};
  StringTable strings_;
  std::vector<uint64_t> location_of_stack_;   // 0: none yet
  std::vector<uint64_t> function_of_method_;  // 0: none yet
  std::map<std::string, uint64_t> function_of_marker_;
  std::vector<Location> locations_;
  analysis::KeyMap location_of_line_;
  std::vector<std::array<int64_t, 3>> functions_;  // name, system name, file
};

}  // namespace

Status export_pprof(const Model& model, std::ostream& out) {
  if (PprofWriter(model, out).write()) return {};
  return Error{Errc::kFailed, "pprof: writing failed; is the disk full?"};
}

}  // namespace tarsier::exporting
