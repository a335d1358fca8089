// Opening a recording for a command that shows it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/model.h"
#include "analysis/so_far.h"
#include "base/result.h"
#include "cli/options.h"

namespace tarsier::cli {

// Not a kind of samples: those of CPU time, without what the hypervisor took.
inline constexpr std::string_view kCorrected = "corrected";
// Of every command that shows a profile; load_recording_operand() obeys it.
inline constexpr Option kWeightOption = {.name = "weight",
                                         .kind = Kind::kWord,
                                         .value = "KIND",
                                         .help = "which samples, weighted by what",
                                         .otherwise = "the first of them that the recording has",
                                         .allowed = "cpu,corrected,wall,alloc,waits,locks,owners"};
// Of those that show parts of one, or lists.
inline constexpr Option kThreadOption = {
    .name = "thread", .kind = Kind::kText, .value = "REGEX", .help = "only threads whose name contains a match"};
inline constexpr Option kFromOption = {
    .name = "from", .kind = Kind::kDuration, .value = "TIME", .help = "only from there on, since the start"};
inline constexpr Option kToOption = {
    .name = "to", .kind = Kind::kDuration, .value = "TIME", .help = "only up to there, since the start"};
inline constexpr Option kTopOption = {.name = "top",
                                      .kind = Kind::kNumber,
                                      .value = "N",
                                      .fallback = "20",
                                      .help = "rows of a list",
                                      .min = 1,
                                      .max = 1'000'000};
// Of those whose page can show two of them.
inline constexpr Option kAgainstOption = {.name = "against",
                                          .kind = Kind::kFile,
                                          .value = "FILE",
                                          .help = "on the page: show how it differs from this earlier recording"};
inline constexpr Option kPerOption = {
    .name = "per",
    .kind = Kind::kWord,
    .value = "SCALE",
    .fallback = "second",
    .help = "with --against, on which scale: time per second, of the whole run, as a share",
    .allowed = "second,run,share"};
inline constexpr Option kSignaturesOption = {.name = "signatures", .help = "tell overloaded methods apart"};

// The file that the command's only operand names.
Result<std::string> recording_operand(const std::string& command, std::span<const std::string> operands);
// What a page is called that shows it: its name, without folders.
std::string title_of(const std::string& path);
// Whether there is a recording in it at all, as far as can be told at once.
Status check_recording(const std::string& path);
// The recording in a file, a .jfr or .jfr.zst, with that profile (empty: the first that it has). Its errors are never
// those that mean JVMs. `locks`: see analysis::load(); `watch`: load_watched().
Result<analysis::Model> load_recording(const std::string& path, std::string_view weight,
                                       analysis::LockPass* locks = nullptr,
                                       const std::function<void(const analysis::SoFar&)>& watch = {});
// That of the command's only operand, with the profile that --weight names.
Result<analysis::Model> load_recording_operand(const std::string& command, const Arguments& arguments,
                                               analysis::LockPass* locks = nullptr);
// For commands that compare: one file twice, also under two names, would be found to agree with itself.
Status check_different(std::span<const std::string> files);
// For those that write a file: it may not take the place of what it is made of.
Status check_output(const std::string& output, std::span<const std::string> files);
// Says what could not be read, and returns the exit code that belongs to it: 0, or 5 if something is missing.
int tell_problems(const analysis::Model& model);
int tell_problems(std::span<const std::string> problems, bool damaged);

}  // namespace tarsier::cli
