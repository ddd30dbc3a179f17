// podere classify: the classes of many pictures, by a network.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/file_lock.h"
#include "podere/base/interrupt.h"
#include "podere/base/read_file.h"
#include "podere/base/temporary_folder.h"
#include "podere/classify/folder_lock.h"
#include "podere/classify/picture_network.h"
#include "podere/classify/preprocessing.h"
#include "podere/classify/run_folder.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/cli/shared_file.h"
#include "podere/exchange/format.h"
#include "podere/exchange/join_head.h"
#include "podere/image/list.h"
#include "podere/jobs/classify_job.h"
#include "podere/launch/local.h"

namespace podere::cli {
namespace {

struct ClassifyOptions {
  OutputOptions output;
  GroupOptions group;
  jobs::ClassifyJob job;
  std::string preprocess;
  std::string head;
  std::string path;
  std::string sheet;
  bool resume = false;
};

void define_classify(CLI::App& app, ClassifyOptions& options) {
  jobs::ClassifyJob& job = options.job;
  app.add_option("PICTURES", job.pictures,
                 "Folder with pictures (TIFF, JPEG, PNG), also in folders below; or a pattern, a list of paths, a tar "
                 "archive, a picture")
      ->required()
      ->type_name("");
  app.add_option("--model", job.model, "ONNX file of the network")->required()->check(file_name())->type_name("FILE");
  app.add_option("--preprocess", options.preprocess,
                 "How values of pictures come to the network: imagenet (as torchvision's networks), inception (-1 to "
                 "1), unit (0 to 1), raw (0 to 255), or a JSON file [MODEL.json beside MODEL.onnx]")
      ->type_name("NAME|FILE");
  app.add_option("--head", options.head,
                 "Network of Podere that learned the network's features: gives the classes, and their names")
      ->check(file_name())
      ->type_name("FILE");
  app.add_option("--labels", job.labels, "File with the names of the classes, one a line [classes are numbers]")
      ->check(file_name())
      ->type_name("FILE");
  app.add_option("--top", job.top,
                 "Classes of each picture, the most likely first [5, or all if the network has fewer]")
      ->transform(whole_number(1, kMostWhole))
      ->type_name("K");
  app.add_option("--size", job.size, "Height and width of what the network gets, if it takes any")
      ->transform(whole_number(1, classify::kMostSide))
      ->type_name("N");
  app.add_option("--bits", job.bits,
                 "Of pictures with values above 8 bits how many are shown: 2^N and more is white [all that the file "
                 "has, and pictures that use few of them cannot be used]")
      ->transform(whole_number(classify::kLeastBits, classify::kMostBits))
      ->type_name("N");
  add_choice(app, "--pages", job.pages,
             "Which pages of a TIFF are pictures: first, or all, which are called FILE[0], FILE[1] and so on");
  app.add_option("--layer", job.layer, "Tensor of the network that has the scores [its output]")->type_name("NAME");
  app.add_option("-o,--output", options.path,
                 "File to write, with a row for each picture: HDF5 if its name ends with .h5 or .hdf5, else CSV")
      ->required()
      ->transform(output_file())
      ->type_name("FILE");
  add_choice(app, "--keep-images", job.keep_images,
             "What an HDF5 file has of the pictures: none, small (as the network gets them), original (their files)");
  app.add_option("--contact-sheet", options.sheet,
                 "Page that shows some of the pictures with their classes, and those that the network is least sure of")
      ->transform(output_file())
      ->type_name("FILE.html");
  app.add_flag("--resume", options.resume, "Continue a run that was ended: FILE.parts has what it did");
  app.add_option("--decode-seconds", job.decode_seconds,
                 "Processor time that decoding a picture may take before it is left out [20]")
      ->transform(whole_number(1, classify::kMostDecodeSeconds))
      ->type_name("S");
  app.add_flag("--strict", job.strict, "End at the first picture that cannot be used");
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_job_output_options(app, options.output);
  make_common(app, {"--model", "--preprocess", "--labels", "--top", "--resume", "--executors"});
  app.footer(
      "Example: podere classify micrographs/ --model inception.onnx --preprocess inception --labels names.txt "
      "--executors 4 -o labels.csv");
}

classify::OutputFormat format_of(const std::filesystem::path& output) {
  std::string ending = output.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool is_hdf5 = ending == ".h5" || ending == ".hdf5";
  return is_hdf5 ? classify::OutputFormat::kHdf5 : classify::OutputFormat::kText;
}

/// Throws InputError for the name of a table of pictures.
void check_location(const std::string& pictures) {
  constexpr std::string_view kScheme = "images:";
  std::error_code unknown;
  if (!pictures.starts_with(kScheme) || std::filesystem::exists(pictures, unknown)) return;
  const std::string place = pictures.substr(kScheme.size(), pictures.find('?') - kScheme.size());
  throw_input_error("{}: images: is for tables; classify takes the pictures themselves: {}", pictures, place);
}

/// Throws InputError for an output of a format that classify does not write.
void check_ending(const ClassifyOptions& options) {
  constexpr std::array<std::string_view, 9> kOthers = {".xlsx",  ".xls",     ".ods", ".json", ".parquet",
                                                       ".arrow", ".feather", ".npy", ".npz"};
  std::filesystem::path output = options.path;
  if (std::ranges::find(kOthers, output.extension().string()) == kOthers.end()) return;
  throw_input_error("-o {}: classify writes CSV, which spreadsheets read, or HDF5: name it {} or {}", options.path,
                    output.replace_extension(".csv").string(), output.replace_extension(".h5").string());
}

/// Where what is done is kept: beside the output, or with what goes at the end where that is no file.
std::filesystem::path folder_for(const ClassifyOptions& options, const SeenFolder& seen) {
  const std::filesystem::path output = options.path;
  std::error_code unknown;  // such as a name that is too long: making it says so
  if (std::filesystem::exists(output, unknown) && !std::filesystem::is_regular_file(output, unknown)) {
    if (options.resume) throw_input_error("--resume: {} is no file, so that nothing was kept", options.path);
    return seen.path() / "parts";
  }
  std::filesystem::path folder = options.path + ".parts";
  const auto place = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal();
  };
  if (!options.sheet.empty() && place(options.sheet) == place(folder)) {
    throw_input_error("--contact-sheet {}: is the folder that keeps what is done until all is: choose another",
                      options.sheet);
  }
  const bool is_there = std::filesystem::exists(folder, unknown);
  if (is_there) FileLock::check_free(folder);
  if (is_there && !options.resume) {
    throw_input_error("{0}: is what an earlier run did: --resume continues it, rm -r {0} forgets it", folder.string());
  }
  if (!is_there && options.resume) {
    throw_input_error("--resume: there is no {}, which would have what an earlier run did", folder.string());
  }
  return folder;
}

std::vector<NamedFile> outputs_of(const ClassifyOptions& options) {
  return {{"-o", options.path}, {"--contact-sheet", options.sheet}, {"--report", options.output.report}};
}

/// An interrupt that leaves something behind.
struct KeptInterrupt {
  std::string message;
};

/// Runs the job. What it did before it failed stays beside the output, and the message says how to continue.
Json run_resumable(const ClassifyOptions& options, const jobs::ClassifyJob& job,
                   const std::function<void(const Json&)>& keep) {
  const auto n_before = classify::result_bytes(job.parts);
  const auto advice = [&](const std::string& error) {
    const bool is_kept = job.parts == options.path + ".parts";
    return is_kept ? classify::with_advice(error, job.parts, n_before, job.strict) : error;
  };
  try {
    return run_job(options.group, named_run(options.output, "classify", options.job.model, options.job.pictures), job,
                   keep);
  } catch (const Interrupted&) {
    const std::string words = advice("");
    if (words.empty()) throw;
    throw KeptInterrupt{fmt::format("interrupted; {}", words)};
  } catch (const InputError& error) {
    throw InputError(advice(error.what()));
  } catch (const Error& error) {
    throw Error(advice(error.what()));
  }
}

/// "read 38 %, decode 9 %, ...": of the time that threads had pictures; empty if they had none.
std::string shares_of_steps(const Json& seconds_of) {
  double all = 0;
  for (const auto& [step, seconds] : seconds_of.items()) all += seconds.get<double>();
  std::string shares;
  for (const auto& [step, seconds] : seconds_of.items()) {
    if (all == 0) continue;
    shares += fmt::format("{}{} {:.0f} %", shares.empty() ? "" : ", ", step, 100 * seconds.get<double>() / all);
  }
  return shares;
}

void print_facts(const Json& facts, const ClassifyOptions& options, int descriptor) {
  const Json& network = facts.at("network");
  const auto n_pictures = facts.at("pictures").get<std::uint64_t>();
  std::vector<std::pair<std::string, Json>> lines = {
      {"network", fmt::format("{} parameters, input {}", with_commas(network.at("parameters").get<std::uint64_t>()),
                              network.at("input").get<std::string>())},
      {"preprocessing", network.at("preprocessing")},
      {"scores", network.at("scores")},
      {"classes", !options.head.empty() ? "as " + options.head
                  : !options.job.labels.empty()
                      ? "as " + options.job.labels
                      : fmt::format("numbers, 0 to {}", network.at("classes").get<int>() - 1)},
      {"executors × cores", fmt::format("{} × {}", facts.at("executors").get<int>(), facts.at("cores").get<int>())}};
  const auto n_now = n_pictures - facts.at("earlier").get<std::uint64_t>();
  const double seconds = facts.at("classify_seconds").get<double>();
  lines.emplace_back("pictures",
                     fmt::format("{}, {} in {} ({:.1f} a second)", with_commas(n_pictures), with_commas(n_now),
                                 duration(seconds), static_cast<double>(n_now) / std::max(seconds, 1e-9)));
  if (const std::string shares = shares_of_steps(facts.at("seconds_of")); !shares.empty()) {
    lines.emplace_back("of the time", shares);
  }
  if (const auto n_others = facts.at("other_files").get<std::uint64_t>(); n_others > 0) {
    lines.emplace_back("other files, left out", with_commas(n_others));
  }
  if (const auto n_replaced = facts.at("replaced").get<std::uint64_t>(); n_replaced > 0) {
    lines.emplace_back("names that come again", fmt::format("{} left out, the last counts", with_commas(n_replaced)));
  }
  if (const auto n = facts.at("with_other_pages").get<std::uint64_t>(); n > 0) {
    lines.emplace_back("files of several pages",
                       fmt::format("{}, the first page of each counts; --pages all takes all", with_commas(n)));
  }
  lines.emplace_back("classified", with_commas(facts.at("classified").get<std::uint64_t>()));
  for (const auto& [kind, n] : facts.at("faults").items()) {
    lines.emplace_back("not: " + kind, with_commas(n.get<std::uint64_t>()));
  }
  lines.emplace_back("output", fmt::format("{} ({})", options.path, to_string(format_of(options.path))));
  if (!options.sheet.empty()) lines.emplace_back("contact sheet", options.sheet);
  print(facts_text(lines), descriptor);
}

classify::NetworkOptions network_of(const ClassifyOptions& options) {
  return {.path = options.job.model,
          .preprocess = options.preprocess,
          .size = options.job.size,
          .bits = options.job.bits,
          .layer = options.job.layer};
}

/// Has the job take the network with its head, which is written into `folder`.
void join_head(const ClassifyOptions& options, const std::filesystem::path& folder, jobs::ClassifyJob& job) {
  const exchange::JoinedFiles files = exchange::write_joined_into(folder, options.head, network_of(options));
  job.model = files.network;
  job.preprocess.clear();
  job.preprocess_file = files.preprocessing;
  job.labels = files.classes;
  job.layer.clear();
  job.size = 0;
  job.bits = 0;  // the file of preprocessing has it
}

/// Throws InputError for a network that cannot be used: a batch job would say so hours later.
void check_network(const ClassifyOptions& options) {
  if (options.head.empty()) {
    const classify::PictureNetwork network(network_of(options));
  } else {
    exchange::join_head(*exchange::load_model(options.head).model, network_of(options));
  }
}

/// Throws InputError for an output that is one of the pictures that a list names.
void check_pictures(const ClassifyOptions& options) {
  std::error_code unknown;
  const auto is_file = [&](const std::string& path) { return std::filesystem::is_regular_file(path, unknown); };
  if (!is_file(options.path) && !is_file(options.sheet)) return;
  if (std::filesystem::is_directory(options.job.pictures, unknown)) return;
  check_outputs(outputs_of(options), options.job.pictures, image::files_of_pictures(options.job.pictures));
}

int classify_pictures(const ClassifyOptions& options) {
  check_location(options.job.pictures);
  const int facts_to =
      prepare_outputs(outputs_of(options),
                      {{"PICTURES", options.job.pictures},
                       {"--model", options.job.model},
                       {"--labels", options.job.labels},
                       {"--head", options.head},
                       {"--preprocess", classify::is_preprocessing_name(options.preprocess) ? "" : options.preprocess},
                       {"the file beside --model", classify::preprocessing_file_of(options.job.model)}});
  check_ending(options);
  if (!options.head.empty() && !options.job.labels.empty()) {
    throw_input_error("--labels: the head has the names of classes");
  }
  check_pictures(options);
  if (options.group.submit) check_network(options);
  const TemporaryFolder here(launch::temporary_folder());
  const SeenFolder seen(options.group, here);
  jobs::ClassifyJob job = options.job;
  job.parts = folder_for(options, seen).string();
  (classify::is_preprocessing_name(options.preprocess) ? job.preprocess : job.preprocess_file) = options.preprocess;
  job.contact_sheet = !options.sheet.empty();
  std::optional<AtomicFile> sheet;
  if (job.contact_sheet) sheet.emplace(options.sheet);
  SharedFile file(options.path);
  job.output = file.path();
  job.format = format_of(options.path);
  submit_if_asked(options.group, options.output);
  if (!options.head.empty()) join_head(options, seen.path(), job);
  classify::FolderLock lock(job.parts);
  Json facts = run_resumable(options, job, [&](const Json& result) {
    if (result.at("was_stopped").get<bool>()) throw Interrupted();
    if (sheet) sheet->write(read_file(std::filesystem::path(job.parts) / classify::kContactSheetName));
    file.commit();
    if (sheet) sheet->commit();
    if (!lock.remove_run()) print_error(fmt::format("{} is left, something else is in it", job.parts));
  });
  facts["output"] = options.path;
  if (!options.head.empty()) {
    facts["head"] = options.head;
    facts["network"]["path"] = options.job.model;
    facts["network"]["preprocessing"] =
        options.preprocess.empty() ? classify::preprocessing_file_of(options.job.model) : options.preprocess;
  }
  if (sheet) facts["contact_sheet"] = options.sheet;
  show_result(options.output, facts, facts_to, [&] { print_facts(facts, options, facts_to); });
  if (facts.at("classified").get<std::uint64_t>() > 0) return kDone;
  print_error(fmt::format("none of the pictures could be used: {} says why", options.path));
  return kInputFault;
}

int run_classify(const ClassifyOptions& options) {
  try {
    return classify_pictures(options);
  } catch (const KeptInterrupt& interrupt) {
    print_error(interrupt.message);
    return kInterrupted;
  }
}

}  // namespace

void add_classify(CLI::App& app, Command& chosen) {
  add_command<ClassifyOptions>(app, chosen, "classify", "Find the classes of pictures by a network", define_classify,
                               run_classify);
}

}  // namespace podere::cli
