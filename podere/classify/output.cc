#include "podere/classify/output.h"

#include <optional>
#include <string_view>
#include <utility>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/base/subprocess.h"

namespace podere::classify {
namespace {

constexpr std::size_t kBytesAtOnce = 1 << 20;
constexpr int kPollMs = 1000;

/// Bytes that are no UTF-8 become \xNN; so does a backslash before an x, so that no two names become one.
std::string as_utf8(std::string name) {
  for (std::size_t at = 0; (at = name.find("\\x", at)) != name.npos; at += 4) name.replace(at, 1, "\\x5c");
  return is_utf8(name) ? name : printable_line(name, 4 * name.size());
}

/// Lines of CSV.
class TextOutput : public Output {
 public:
  explicit TextOutput(OutputOptions options) : options_(std::move(options)), text_(csv_head(options_.n_top)) {}

  void add(const std::string& picture, const Outcome& outcome) override {
    append_csv_line(as_utf8(picture), outcome, options_.n_top, options_.labels, text_);
    if (text_.size() > kBytesAtOnce) write();
  }
  void end() override { write(); }

 private:
  void write() {
    write_into(options_.path, n_written_, text_);
    n_written_ += text_.size();
    text_.clear();
  }

  const OutputOptions options_;
  std::string text_;
  std::size_t n_written_ = 0;
};

/// podere-hdf5 writes the file, from lines as podere/columns/hdf5_program/write_labels.h has them.
class Hdf5Output : public Output {
 public:
  explicit Hdf5Output(OutputOptions options)
      : path_(std::move(options.path)), writer_({.argv = {program_beside("podere-hdf5"), "--write-labels", path_}}) {
    send({{"attributes", options.attributes},
          {"classes", options.labels},
          {"top", options.n_top},
          {"pictures", options.n_pictures},
          {"images", to_string(options.keep_images)},
          {"image_shape", {options.input.height, options.input.width, options.input.n_channels}}});
  }

  void add(const std::string& picture, const Outcome& outcome) override {
    Json line = to_json(outcome);
    line["name"] = as_utf8(picture);
    line["image_bytes"] = outcome.image.size();
    send(line);
    if (!outcome.image.empty()) send_text(outcome.image);
  }

  void end() override {
    writer_.close_input();
    std::string words;
    while (!writer_.streams_ended()) {
      if (const auto line = writer_.next_line(kPollMs)) words += line->text;
    }
    const std::optional<int> code = writer_.wait(kPollMs);
    if (code && *code == 0) return;
    throw_input_error("{}: {}", path_, words.empty() ? "podere-hdf5 ended before it was written" : words);
  }

 private:
  void send(const Json& line) { send_text(to_text(line)); }
  /// The writer says why it reads no longer at its end.
  void send_text(std::string_view text) {
    if (!writer_.send_line(text)) end();
  }

  std::string path_;
  Subprocess writer_;
};

}  // namespace

std::unique_ptr<Output> open_output(OutputOptions options) {
  if (options.format == OutputFormat::kText) return std::make_unique<TextOutput>(std::move(options));
  return std::make_unique<Hdf5Output>(std::move(options));
}

}  // namespace podere::classify
