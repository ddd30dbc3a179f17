// podere predict: one line per row from a model and a table.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"

namespace podere::cli {
namespace {

struct PredictOptions {
  OutputOptions output;
  GroupOptions group;
  session::SourceSpec source;
  std::string model;
  std::string path;
  bool margin = false;
};

void define(CLI::App& app, PredictOptions& options) {
  app.add_option("MODEL", options.model, "Model file")->required()->type_name("");
  add_source_options(app, "DATA", options.source);
  app.add_option("-o,--output", options.path, "File to write: a line per row, numbers with commas between")
      ->required()
      ->check(file_name())
      ->type_name("FILE");
  app.add_flag("--margin", options.margin, "Write sums of leaf values instead of probabilities");
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  app.footer("Example: podere predict model.json events.csv --label 0 -o probabilities.csv");
}

/// Where executors write: beside the output, or in a scratch file if the output is a pipe or a device.
class PredictionFile {
 public:
  explicit PredictionFile(const std::string& path) : output_(path) {
    if (output_.temporary_path().empty()) {
      scratch_.emplace(std::filesystem::temp_directory_path() / fmt::format("podere-predictions-{}", getpid()));
    }
  }
  std::string path() const { return (scratch_ ? *scratch_ : output_).temporary_path().string(); }
  void commit() {
    if (scratch_) {
      std::ifstream file(scratch_->temporary_path(), std::ios::binary);
      std::string piece(1 << 20, '\0');
      while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
        output_.write(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
      }
    }
    output_.commit();
  }

 private:
  AtomicFile output_;
  std::optional<AtomicFile> scratch_;
};

int run(const PredictOptions& options) {
  const std::vector<NamedFile> outputs = {{"-o", options.path}};
  check_outputs(outputs, {{"MODEL", options.model}, named_file("DATA", options.source)});
  const int facts_to = facts_descriptor(outputs);
  count_interrupts();  // before there is a file that would be left behind
  PredictionFile file(options.path);
  auto facts = run_job(options.group, options.output,
                       session::PredictJob{options.source, options.model, file.path(), options.margin},
                       [&](const session::Json&) { file.commit(); });
  facts["output"] = options.path;
  if (options.output.json) {
    print_json(facts, facts_to);
  } else {
    print(fmt::format("{} predictions: {}\n", with_commas(facts.at("rows").get<std::uint64_t>()), options.path),
          facts_to);
  }
  return kDone;
}

}  // namespace

void add_predict(CLI::App& app, Command& chosen) {
  add_command<PredictOptions>(app, chosen, "predict", "Apply a model to data", define, run);
}

}  // namespace podere::cli
