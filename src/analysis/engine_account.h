// Nothing is lost silently: brings an engine's account to taken = written + dropped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/model.h"

namespace tarsier::analysis {

constexpr const char* kLeftOut = "left out to keep the cost down";  // by chance, as the agent calls it
constexpr const char* kInFlight = "in flight";                      // taken, but the JVM ended before they were written
// Two samplers of the same CPU time are not added up: the better one counts.
constexpr const char* kCountedByOther = "jdk.CPUTimeSample covers the same time";
constexpr const char* kNotInFile = "not in the file";  // written, but lost with a damaged part of the file

// `loaded`: how many samples of this engine the file really holds, where that can be told.
// Returns what is wrong with the account, or nothing.
std::string settle_account(Engine& engine, std::optional<uint64_t> loaded);

// False of the CPU samples of a recording by JFR without its settings: they stand for no time, each counts as one.
bool tells_its_period(const Model& model);
constexpr const char* kNoPeriod =
    "the recording does not tell its sampling period: weights are numbers of samples, not times.";

}  // namespace tarsier::analysis
