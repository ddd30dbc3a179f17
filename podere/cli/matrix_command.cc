#include "podere/cli/matrix_command.h"

#include <fmt/format.h>

#include <vector>

#include "podere/base/printable.h"
#include "podere/cli/print.h"

namespace podere::cli {

void add_impute_option(CLI::App& app, jobs::Impute& impute) {
  add_choice(app, "--impute", impute, "Fill missing values in with the mean of their column, or refuse them");
}

void print_matrix(const Json& facts, int descriptor) {
  const auto n_columns = facts.at("columns").get<std::uint64_t>();
  print(fmt::format("{} rows, {} column{} of {}, read in {}\n\n", with_commas(facts.at("rows").get<std::uint64_t>()),
                    with_commas(n_columns), n_columns == 1 ? "" : "s", facts.at("values").get<std::string>(),
                    duration(facts.at("load_seconds").get<double>())),
        descriptor);
  const auto labels = facts.at("called_as_labels").get<std::vector<std::string>>();
  if (!labels.empty()) {
    print(fmt::format("called as labels are, and taken as any other: {} (if not: --drop)\n\n", printable_list(labels)),
          descriptor);
  }
  if (facts.contains("without_values")) {
    print(fmt::format("columns without a value in any row, left out: {}\n\n",
                      with_commas(facts.at("without_values").get<std::uint64_t>())),
          descriptor);
  }
  if (!facts.contains("imputed")) return;
  std::uint64_t n_values = 0;
  std::vector<std::string> columns;
  for (const auto& [name, n] : facts.at("imputed").items()) {
    n_values += n.get<std::uint64_t>();
    columns.push_back(name);
  }
  print(columns.empty() ? "no values are missing\n\n"
                        : fmt::format("missing values filled in with their column's mean: {}, in {}\n\n",
                                      with_commas(n_values), printable_list(columns)),
        descriptor);
}

}  // namespace podere::cli
