#include "podere/cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>

#include "podere/base/machine.h"
#include "podere/base/number.h"
#include "podere/cli/help.h"
#include "podere/launch/slurm.h"
#include "podere/session/live_page.h"
#include "podere/session/session.h"
#include "podere/source/readers.h"

namespace podere::cli {
namespace {

constexpr int kMostThreadsPerCore = 2;                        // a pair may take turns at little cost
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 53;  // beyond, 1e17 is no longer exact

/// "A:B", "A:" or ":B" into the rows [A, B).
void read_rows(const std::string& text, io::RowSelection& rows) {
  const auto colon = text.find(':');
  const CLI::ValidationError wrong("--rows", fmt::format("'{}' is not A:B, A: or :B with whole numbers A < B", text));
  if (colon == std::string::npos || text.size() == 1) throw wrong;
  const std::string_view first = std::string_view(text).substr(0, colon);
  const std::string_view last = std::string_view(text).substr(colon + 1);
  const auto first_row = first.empty() ? std::optional<std::uint64_t>(0) : parse_count(first);
  const auto last_row = parse_count(last);
  if (!first_row || (!last.empty() && (!last_row || *last_row <= *first_row))) throw wrong;
  rows = {*first_row, last_row};
}

void read_delimiter(const std::string& text, source::SourceSpec& source) {
  static const std::vector<std::pair<std::string, char>> names = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'},
                                                                  {"\\t", '\t'},  {"space", ' '},     {"|", '|'}};
  for (const auto& [name, character] : names) {
    if (text == name || text == std::string(1, character)) {
      source.delimiter = character;
      return;
    }
  }
  throw CLI::ValidationError("--delimiter", fmt::format("'{}' is not comma, semicolon, tab, space or |", text));
}

char read_character(const char* option, const std::string& text) {
  if (text.size() == 1) return text[0];
  throw CLI::ValidationError(option, fmt::format("'{}' is not one character", text));
}

char read_decimal(const std::string& text) {
  if (text == "." || text == "point") return '.';
  if (text == "," || text == "comma") return ',';
  throw CLI::ValidationError("--decimal", fmt::format("'{}' is not . or ,", text));
}

}  // namespace

CLI::Validator whole_number(int least, int most) {
  return {[least, most](std::string& text) -> std::string {
            const auto number = parse_count(text);
            if (!number || *number < static_cast<std::uint64_t>(least) || *number > static_cast<std::uint64_t>(most)) {
              return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
            }
            text = std::to_string(*number);
            return "";
          },
          "", "range"};
}

CLI::Validator real_number() {
  return {[](std::string& text) -> std::string {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool is_whole = end == text.data() + text.size();
            if (is_whole && error == std::errc()) return "";
            return is_whole && error == std::errc::result_out_of_range
                       ? fmt::format("'{}' is too large or too small: the largest number is 1.8e308", text)
                       : fmt::format("'{}' is not a number", text);
          },
          "", "real_number"};
}

CLI::Validator count() {
  return {[](std::string& text) -> std::string {
            const auto number = parse_count(text);
            if (!number) return fmt::format("'{}' is not a whole number from 0 to {} (1e6 is one)", text, kMostCount);
            text = std::to_string(*number);
            return "";
          },
          "", "count"};
}

CLI::Validator file_name() {
  return {[](std::string& text) { return text.empty() ? "a file needs a name" : ""; }, "", "file_name"};
}

CLI::Validator output_file() {
  return {[](std::string& text) -> std::string {
            if (text == "-") text = "/dev/stdout";
            return text.empty() ? "a file needs a name" : "";
          },
          "", "output_file"};
}

CLI::Validator report_file() {
  return {[](std::string& text) -> std::string {
            const std::string ending = std::filesystem::path(text).extension();
            if (ending == ".html" || ending == ".json") return "";
            return fmt::format("'{}' ends neither in .html, for a page, nor in .json, for its facts alone", text);
          },
          "", "report_file"};
}

CLI::Validator listening_address() {
  return {[](std::string& text) -> std::string {
            static const std::regex form(R"((([0-9.]{7,15}|\[[0-9a-fA-F:]{2,45}\]):)?([0-9]{1,5}))");
            std::smatch parts;
            if (!std::regex_match(text, parts, form) || std::stoi(parts[3]) > 65535) {
              return fmt::format("'{}' is no port, nor an address and a port, such as 8080 or 0.0.0.0:8080", text);
            }
            if (!parts[1].matched) text = "127.0.0.1:" + text;
            return "";
          },
          "", "address"};
}

void add_access_options(CLI::App& app, kube::AccessOptions& options) {
  app.add_option("--kubeconfig", options.kubeconfig,
                 "Cluster and credentials [as kubectl; in a pod its service account]")
      ->check(file_name())
      ->type_name("FILE");
  app.add_option("--context", options.context, "Context of the kubeconfig [the current one]")->type_name("NAME");
}

void add_output_options(CLI::App& app, OutputOptions& options) {
  const InGroup group(app, kOutput);
  app.add_flag("--json", options.json, "Print one JSON object instead of text");
  app.add_flag("--debug", options.debug, "Show what executors and MPI write to standard error");
}

void add_job_output_options(CLI::App& app, OutputOptions& options) {
  const InGroup group(app, kOutput);
  // With =, as --staged: what follows --metrics may be the name of a file.
  app.add_flag("--metrics{phases}", options.metrics,
               "Show time, waiting, bytes and memory of each phase; --metrics=tasks: of each executor too")
      ->check(CLI::Validator(
          [](std::string& text) {
            return text == "phases" || text == "tasks" ? "" : fmt::format("'{}' is neither phases nor tasks", text);
          },
          "", "metrics"));
  app.add_option(
         "--report", options.report,
         "Write a page that shows the run: curves, measures, histograms, costs; .json: the facts for podere report")
      ->check(report_file())
      ->type_name("FILE.html|FILE.json");
  add_page_option(app, options.page,
                  "Show the command on a page while it runs, at a port of this machine, whose link is printed; "
                  "--page=[ADDRESS:]PORT: there, or at a port after that [8650]");
}

CLI::Option* add_page_option(CLI::App& app, std::string& page, const std::string& description) {
  return app.add_flag(fmt::format("--page{{{}}}", session::kPageAddress), page, description)
      ->transform(listening_address());
}

int GroupOptions::cores_each() const {
  if (!on_this_machine()) return cores.value_or(on_slurm || submit ? launch::cores_per_task() : 0);
  return cores ? *cores : std::max(1, this_machine().usable_cores() / std::max(1, executors));
}

std::string GroupOptions::too_many(int usable_cores) const {
  if (!on_this_machine()) return "";
  const int threads = executors * cores_each();
  if (threads <= kMostThreadsPerCore * usable_cores) return "";
  return fmt::format("{} executors x {} cores are {} threads, this machine has {} usable cores: {}it takes longer",
                     executors, cores_each(), threads, usable_cores,
                     needed_executors > 1 ? "" : "the result is the same, but ");
}

void read_executors(const std::string& text, GroupOptions& options) {
  const auto colon = std::min(text.find(':'), text.size());
  const auto least = parse_count(std::string_view(text).substr(0, colon));
  const auto wanted = colon == text.size() ? least : parse_count(std::string_view(text).substr(colon + 1));
  const bool is_range = least && wanted && *least >= 1 && *least <= *wanted;
  if (!is_range || *wanted > static_cast<std::uint64_t>(session::kMostExecutors)) {
    throw CLI::ValidationError(
        "--executors",
        fmt::format("'{}' is not a whole number from 1 to {}, or two of them as A:B", text, session::kMostExecutors));
  }
  options.executors = static_cast<int>(*wanted);
  options.least_executors = colon == text.size() ? 1 : static_cast<int>(*least);
}

std::vector<std::string> group_arguments(const GroupOptions& options) {
  std::vector<std::string> arguments = {"--executors",
                                        fmt::format("{}:{}", options.least_executors, options.executors)};
  if (const int cores = options.cores_each(); cores > 0)
    arguments.insert(arguments.end(), {"--cores", std::to_string(cores)});
  if (!options.hosts.empty()) arguments.insert(arguments.end(), {"--hosts", options.hosts, "--ssh", options.ssh});
  if (options.on_slurm) arguments.insert(arguments.end(), {"--on", "slurm"});
  if (options.on_kubernetes) arguments.insert(arguments.end(), {"--on", "kubernetes", "--farm", options.farm});
  if (!options.slurm_options.empty()) arguments.push_back("--slurm-options=" + options.slurm_options);
  return arguments;
}

namespace {

CLI::Validator farm_name() {
  return {[](std::string& text) -> std::string {
            static const std::regex form("([a-z0-9][-a-z0-9]*/)?[a-z0-9][-.a-z0-9]*");
            if (std::regex_match(text, form)) return "";
            return fmt::format("'{}' is no name of a farm, nor NAMESPACE/NAME: small letters, digits and - as in astro",
                               text);
          },
          "", "farm_name"};
}

/// Where executors run.
void add_launcher_options(CLI::App& app, GroupOptions& options) {
  auto* hosts = app.add_option("--hosts", options.hosts,
                               "Start executors over ssh on the hosts in this file, a line 'name slots=N' each")
                    ->check(file_name())
                    ->type_name("FILE");
  app.add_option("--ssh", options.ssh, "Command that reaches the hosts [ssh]")->needs(hosts)->type_name("COMMAND");
  auto* on =
      app.add_option_function<std::string>(
             "--on",
             [&options](const std::string& place) {
               if (place != "here" && place != "slurm" && place != "kubernetes") {
                 throw CLI::ValidationError("--on", fmt::format("'{}' is none of here, slurm, kubernetes", place));
               }
               options.on_slurm = place == "slurm";
               options.on_kubernetes = place == "kubernetes";
             },
             "Start executors on this machine, in the allocation of salloc or sbatch, or in the pods of --farm [here]")
          ->excludes(hosts)
          ->excludes("--session")
          ->type_name("here|slurm|kubernetes");
  app.add_option("--farm", options.farm, "Farm whose pods run the executors; needs --on kubernetes")
      ->needs(on)
      ->check(farm_name())
      ->type_name("[NAMESPACE/]NAME");
  auto* submit = app.add_flag("--submit", options.submit, "Submit this command to Slurm with sbatch, and return")
                     ->excludes(hosts)
                     ->excludes("--session");
  app.add_option("--time", options.time, "Time limit of the submitted job, such as 2:00:00 [that of the partition]")
      ->needs(submit)
      ->type_name("LIMIT");
  app.add_option("--slurm-options", options.slurm_options,
                 "More options for sbatch with --submit, for srun without, such as '--partition=long --mem=8G'")
      ->excludes(hosts)
      ->type_name("OPTIONS");
}

}  // namespace

void add_group_options(CLI::App& app, GroupOptions& options) {
  const InGroup group(app, kExecutors);
  app.add_option_function<std::string>(
         "--executors", [&options](const std::string& text) { read_executors(text, options); },
         "Processes that share the work. A:B: start B, and continue with as few as A if some are lost [1]")
      ->type_name("N");
  app.add_option("--executors-file", options.executors_file,
                 "File that you may change during training: how many executors to use, N or A:B")
      ->check(file_name())
      ->type_name("FILE");
  app.add_option("--cores", options.cores, "Threads of each executor [an even share of the machine's cores]")
      ->transform(whole_number(1, kMostCores))
      ->type_name("C");
  app.add_option("--session", options.session,
                 "Run the job on the executors of this session, see podere session [start executors]")
      ->excludes("--executors")
      ->excludes("--executors-file")
      ->excludes("--cores")
      ->check([](const std::string& text) { return text.empty() ? "a session has a name" : ""; })
      ->type_name("NAME");
  add_launcher_options(app, options);
}

void add_model_argument(CLI::App& app, std::string& path) {
  app.add_option("MODEL", path, "Model file")->required()->check(file_name())->type_name("");
}

void add_rounds_option(CLI::App& app, std::size_t& n_rounds) {
  app.add_option("--rounds", n_rounds, "Use only the first N rounds of the model; 0: all [0]")
      ->transform(count())
      ->type_name("N");
}

std::vector<std::string> split_columns(const std::string& option, const std::string& text) {
  std::vector<std::string> columns(1);
  for (const char c : text) {
    if (c == ',') {
      columns.emplace_back();
    } else {
      columns.back() += c;
    }
  }
  if (std::ranges::find(columns, "") == columns.end()) return columns;
  throw CLI::ValidationError(option,
                             fmt::format("'{}' has an empty name: give names or positions, A,B or one alone", text));
}

void add_rows_option(CLI::App& app, io::RowSelection& rows) {
  app.add_option_function<std::string>(
         "--rows", [&rows](const std::string& text) { read_rows(text, rows); },
         "Use only rows A to B-1; A: and :B leave one end open")
      ->type_name("A:B");
}

namespace {

/// How formats are recognized, as the table of readers has it.
std::string format_help() {
  std::string endings;
  for (const source::Reader& reader : source::readers()) {
    for (const std::string_view suffix : reader.suffixes) {
      const bool is_last = suffix == reader.suffixes.back();
      if (suffix == reader.suffixes.front()) {
        endings += fmt::format(", {} by the endings {}", reader.name, suffix);
      } else {
        endings += fmt::format("{} {}", is_last ? " and" : ",", suffix);
      }
    }
  }
  return fmt::format("Format of DATA; auto: by content{} [auto]", endings);
}

void add_location(CLI::App& app, const std::string& name, source::SourceSpec& source) {
  app.add_option(
         name, source.location,
         "File, folder or pattern: delimited text, Parquet, Arrow, HDF5, NumPy, IDX, libsvm or raw numbers; or "
         "collider:N?seed=S: "
         "N simulated collisions; images:FOLDER?size=32: pictures, images:FOLDER?model=FILE.onnx&layer=NAME: what a "
         "network makes of them; sem:N?seed=S&size=32: N simulated micrographs")
      ->required()
      ->check(file_name())
      ->type_name("");
}

void add_columns_options(CLI::App& app, source::SourceSpec& source) {
  // One text, not a list, of which CLI11 would take the arguments that follow to be more.
  app.add_option_function<std::string>(
         "--columns", [&source](const std::string& text) { source.columns = split_columns("--columns", text); },
         "Columns to use as features, by name or position [all]")
      ->type_name("A,B,...");
  app.add_option_function<std::string>(
         "--drop", [&source](const std::string& text) { source.drop = split_columns("--drop", text); },
         "Columns to ignore, by name or position [none]")
      ->excludes("--columns")
      ->type_name("A,B,...");
}

/// How lines of text become rows of numbers.
void add_text_options(CLI::App& app, source::SourceSpec& source) {
  app.add_option_function<std::string>(
         "--skip", [&source](const std::string& text) { source.skip = std::stoull(text); },
         "Delimited text: lines above the table to leave out, blank ones too [0]")
      ->transform(count())
      ->type_name("N");
  const auto set_header = [&source](bool is_there) {
    return [&source, is_there](std::int64_t) { source.header = is_there; };
  };
  auto* header =
      app.add_flag_function("--header", set_header(true), "The first line has the names of columns [detected]");
  app.add_flag_function("--no-header", set_header(false), "The first line is a row [detected]")->excludes(header);
  app.add_option_function<std::string>(
         "--names", [&source](const std::string& text) { source.names = CLI::detail::split(text, ','); },
         "Names of all columns, in place of those in the first line if it has any [in the first line]")
      ->type_name("A,B,...");
  app.add_option_function<std::vector<std::string>>(
         "--missing",
         [&source](const std::vector<std::string>& tokens) {
           source.missing.insert(source.missing.end(), tokens.begin(), tokens.end());
         },
         "Text that means a missing value, besides an empty field, ?, NA, None and the like; may be repeated")
      ->type_name("TEXT")
      ->expected(1)
      ->take_all();
  app.add_option_function<std::string>(
         "--delimiter", [&source](const std::string& text) { read_delimiter(text, source); },
         "What separates the columns, also | [detected]")
      ->type_name("comma|semicolon|tab|space");
  app.add_option_function<std::string>(
         "--decimal", [&source](const std::string& text) { source.decimal = read_decimal(text); },
         "What separates whole numbers from fractions, point or comma [detected by column]")
      ->type_name(".|,");
  app.add_option_function<std::string>(
         "--comment", [&source](const std::string& text) { source.comment = read_character("--comment", text); },
         "What begins a comment, up to the end of the line [nothing]")
      ->type_name("#");
}

void add_date_options(CLI::App& app, source::SourceSpec& source) {
  app.add_flag("--date-parts", source.date_parts,
               "Dates have their parts as features too: when.year, when.month, when.day, when.weekday, when.hour");
  const auto set_day_first = [&source](bool is_first) {
    return [&source, is_first](std::int64_t) { source.day_first = is_first; };
  };
  auto* day_first =
      app.add_flag_function("--day-first", set_day_first(true), "01/02/2026 is in February [detected by column]");
  app.add_flag_function("--month-first", set_day_first(false), "01/02/2026 is in January [detected by column]")
      ->excludes(day_first);
}

/// Of numbers alone, without a header.
void add_raw_options(CLI::App& app, source::SourceSpec& source) {
  add_choice<columns::RawType>(app, "--raw-type", source.raw_type, "must be chosen",
                               "raw: type of each value: float32, float64, float16, int8 to int64, uint8 to uint64")
      ->type_name("TYPE");
  app.add_option_function<std::string>(
         "--raw-columns", [&source](const std::string& text) { source.raw_columns = std::stoull(text); },
         "raw: values in each row [must be chosen]")
      ->transform(count())
      ->type_name("N");
  app.add_flag("--big-endian", source.big_endian, "raw: values begin with their highest byte [lowest]");
  app.add_option_function<std::string>(
         "--skip-bytes", [&source](const std::string& text) { source.skip_bytes = std::stoull(text); },
         "raw: bytes before the first row to leave out [0]")
      ->transform(count())
      ->type_name("N");
}

/// What only some formats have.
void add_format_options(CLI::App& app, source::SourceSpec& source) {
  app.add_option("--format", source.format, format_help())
      ->check(CLI::IsMember(source::format_names()).description(""))
      ->type_name(choices(source::format_names()));
  app.add_option("--key", source.key,
                 "HDF5: the group, dataset or data frame to read [the only one, or the datasets that are in no group]; "
                 "NPZ: the array [all]")
      ->type_name("NAME");
  app.add_option_function<std::string>(
         "--features", [&source](const std::string& text) { source.n_features = std::stoull(text); },
         "libsvm: number of features [the largest index, and those of the model]")
      ->transform(count())
      ->type_name("N");
  app.add_flag("--zero-based", source.zero_based, "libsvm: indices begin at 0 [at 1]");
  add_raw_options(app, source);
}

}  // namespace

void add_source_options(CLI::App& app, const std::string& name, source::SourceSpec& source) {
  const InGroup group(app, kData);
  add_location(app, name, source);
  app.add_option("--label", source.label, "Column of the label, by name or position from 0")->type_name("COLUMN");
  app.add_option("--weight", source.weight, "Column of row weights, by name or position [none]")->type_name("COLUMN");
  add_columns_options(app, source);
  add_text_options(app, source);
  app.add_flag("--drop-unlabeled", source.drop_unlabeled, "Leave out rows whose label is missing [refused]");
  add_date_options(app, source);
  add_rows_option(app, source.rows);
  add_format_options(app, source);
  app.add_option("--labels", source.labels,
                 "IDX, NumPy, raw: file of labels [IDX: train-labels... beside train-images...]")
      ->check(file_name())
      ->type_name("FILE");
}

void add_matrix_options(CLI::App& app, const std::string& name, source::SourceSpec& source) {
  {
    const InGroup group(app, kData);
    add_location(app, name, source);
    add_columns_options(app, source);
    add_rows_option(app, source.rows);
    add_format_options(app, source);
  }
  const InGroup group(app, kText);
  add_text_options(app, source);
}

void add_categorical_option(CLI::App& app, source::SourceSpec& source) {
  const InGroup group(app, kData);
  app.add_option_function<std::string>(
         "--categorical",
         [&source](const std::string& text) {
           source.categorical = CLI::detail::split(text, ',');
           source.finds_categories = std::erase(source.categorical, "auto") > 0;
         },
         "Features that are categories, by name or position; of the label: that its numbers are texts; auto: all of "
         "few different texts, and others are left out [none]")
      ->type_name("A,B,...");
}

}  // namespace podere::cli
