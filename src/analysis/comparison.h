// What `tarsier compare` says: how alike recordings are, and, of two, what changed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/changes.h"
#include "analysis/joint_tree.h"
#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::analysis {

struct CompareOptions {
  ChangeOptions changes{};
  double threshold = 0.1;  // of hot edges, see overlap.h
  bool signatures = false;
};

// Several values of one kind, by their quartiles (between two values: in proportion).
struct Quartiles {
  double least = 0, first = 0, median = 0, third = 0, most = 0;
};
Quartiles quartiles_of(std::vector<double> values);  // not of none

// Of three recordings and more: how much they agree with one another and with their average.
struct Consistency {
  Quartiles overlap_of_pairs;
  Quartiles overlap_with_average;
  Quartiles coverage_of_pairs;  // both ways
  Quartiles coverage_by_average;
};

// CPU time of threads that no engine samples: one number for the whole recording, of whose noise nothing is known.
struct UnsampledChange {
  std::string name;  // [GC]
  double before = 0, after = 0;
};

struct Comparison {
  JointTree tree;
  std::vector<double> average;  // the average tree: the share of each edge
  // By recording; the row of the average comes last. overlap[i][j] = overlap[j][i]; coverage[i][j]: of the hot edges of
  // j, how many are hot in i too.
  std::vector<std::vector<double>> overlap;
  std::vector<std::vector<double>> coverage;
  std::vector<size_t> hot_edges;  // by recording, then of the average
  std::optional<Consistency> consistency;
  // Of two recordings only.
  std::optional<Changes> changes;
  std::vector<UnsampledChange> unsampled;  // not if shares are compared
};

// A method in the average tree (self), with the least and the most that it has in any of the recordings.
struct AverageMethod {
  uint32_t label = 0;
  double mean = 0, least = 0, most = 0;  // shares
};
std::vector<AverageMethod> average_methods(const JointTree& tree);  // by falling mean

// Can they be compared in this way? kFailed: one has no samples; kUsage: one does not tell how long it is.
Status check_comparable(std::span<const Model> models, Per per);
// Of two or more, all with samples of the same profile. Fails as the check does.
Result<Comparison> compare(std::span<const Model> models, const CompareOptions& options);

// The verdict in one sentence, then what is worth knowing beside it; warnings last, beginning with "Warning: ".
std::vector<std::string> verdict_of(const Comparison& comparison, std::span<const Model> models,
                                    const CompareOptions& options);

// In one word: slower, faster, new or gone (more, less: of shares, and of what is no CPU time), noise, few (samples).
std::string_view outcome_of(const Change& change, Profile profile, Per per);
// 350 ms, 12.4 MB, 3.5 %: a value of a Change; "per second" is left to the reader.
std::string words_of_amount(Profile profile, Per per, double amount);

}  // namespace tarsier::analysis
