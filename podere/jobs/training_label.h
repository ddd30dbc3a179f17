// The label that is learned or compared with: its column, its kind, and whether a guess can be right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podere/algorithm/algorithm.h"
#include "podere/io/read_facts.h"
#include "podere/jobs/job.h"
#include "podere/table/weighted_labels.h"

namespace podere::jobs {

/// What a training wants of its labels.
struct LabelWanted {
  table::LabelRules rules;
  std::string objective;  ///< the option that chose it
  std::string numbers;    ///< the option by which numbers are learned
};

/// Throws InputError, on all ranks, for labels that are missing: in how many rows, and the first. Collective.
void check_missing_labels(const source::SourceSpec& source, const table::Table& table,
                          const std::optional<io::LabelColumn>& column, const comm::Communicator& comm);

/// Throws InputError, on all ranks, for a column that was not chosen and that plainly holds no classes where some are
/// wanted: numbers that are not whole, all of them different, or more of them than two classes are; or that holds other
/// labels than are allowed. `column` is what was found in delimited text. Collective.
void check_label_guess(const source::SourceSpec& source, const table::Table& table,
                       const std::optional<io::LabelColumn>& column, const LabelWanted& wanted,
                       const comm::Communicator& comm);

/// Throws InputError, on all ranks, for a column that was not chosen, where whatever it holds would be learned as
/// numbers: of an algorithm that learns nothing else, and has no option to say so.
void check_guessed_numbers(const source::SourceSpec& source, const table::Table& table,
                           const std::optional<io::LabelColumn>& column, const std::string& algorithm);

/// The options of a training on these labels: those given, and where they do not say what to learn, what fits: classes
/// for texts and at most 20 different whole numbers, each in two rows on average, else numbers. A label that was
/// guessed by its place is not taken for numbers, nor for more than two classes where the last column may be the label.
/// Collective.
Json options_for(const algorithm::Algorithm& algorithm, const Json& given, const table::Table& table,
                 const std::optional<io::LabelColumn>& column, const comm::Communicator& comm);

/// The whole numbers that are the classes of a label, rising; empty where labels are places of classes already, or no
/// classes. Throws InputError for numbers too large to be exact. Collective.
std::vector<float> numbers_as_classes(const source::SourceSpec& source, const table::Table& table,
                                      const table::LabelRules& rules, const comm::Communicator& comm);

/// Throws InputError for classes that are texts and do not fit what is wanted.
void check_classes(const source::SourceSpec& source, const table::Schema& schema, const LabelWanted& wanted);

/// The fact "label" of a job on `source`, whose labels are those of `table`: "column", "position" in the file (or
/// null), "kind" ("two classes", "classes", "counts", "numbers"), "classes" or "min" and "max", and "chosen":
/// "option", "model", "name", "last" or "first" as io::LabelChoice, "table" of what is kept, "format" where labels
/// stand at a place of their own. Collective.
Json describe_label(const source::SourceSpec& source, const table::Table& table,
                    const std::optional<io::LabelColumn>& column, table::LabelKind kind,
                    const comm::Communicator& comm);

/// The same where no label is looked at: "kind" is "none", "column" is that which is no feature as it was chosen, or
/// null, and "called_as_labels" are features that may be labels by their names. Local.
Json describe_no_label(const table::Schema& schema);

}  // namespace podere::jobs
